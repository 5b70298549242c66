/** `waf release image`: this program as an OCI image, with its bill of materials and provenance. */

import { writeFileSync } from 'node:fs';
import { readBuildInfo } from '../../../base/build-info.ts';
import { builtInCrsFolder, readRulesetFolder } from '../../publish/rulesets/ruleset-folder.ts';
import { buildImage } from '../../release/image/oci-image.ts';
import { billOfMaterials, provenance } from '../../release/image/sbom.ts';
import { textFlag, type CommandDefinition } from '../command.ts';

/** The command. */
export const releaseImageCommand: CommandDefinition = {
  path: ['release', 'image'],
  summary: 'Make an OCI image of this program; needs no daemon',
  help:
    'Asks no controller. The image has no shell, runs as an unprivileged user, and writes to its\n' +
    'volume /var/lib/waf only. The same files give the same bytes. Load it: podman load -i FILE',
  flags: [{ flags: '--out <dir>', summary: 'folder that the image is written to', default: '.' }],
  run: (context, _args, flags) => {
    const { version, libraries } = readBuildInfo();
    const program = context.packageFolder;
    const bill = billOfMaterials(program, version, libraries);
    const image = buildImage({
      program,
      version,
      out: textFlag(flags, 'out') ?? '.',
      rules: readRulesetFolder(builtInCrsFolder).files,
      documents: new Map([['usr/share/doc/waf/sbom.cdx.json', bill]]),
    });
    const beside = (ending: string): string => image.path.replace(/\.oci\.tar$/, ending);
    writeFileSync(beside('.cdx.json'), bill);
    writeFileSync(beside('.intoto.json'), provenance(program, version, image));
    context.output.line(`wrote ${image.path}: ${image.bytes} bytes, ${image.digest}`);
    return Promise.resolve(0);
  },
};
