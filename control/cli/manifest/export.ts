/** `waf export`: what is there, as a manifest that `waf apply` reads back. */

import { counted } from '../../../base/counted.ts';
import { textFlag, type CommandDefinition } from '../command.ts';

/** What no manifest holds, for every export to say. */
const outside =
  'not part of manifests: log policies (waf log policy), API documents with their body controls ' +
  '(waf api status), silences of alerts (waf alert silences), secrets, passwords, ' +
  'certificates and events. waf admin backup holds all of these, events with --with-events.';

/** The command. */
export const exportCommand: CommandDefinition = {
  path: ['export'],
  summary: 'Write the resources as a manifest that apply reads back',
  help: `Pools, IP lists and their sources, policies and sites with all that is set in them,
country rules, alert rules and channels, what decides for the whole deployment, settings, roles,
users, groups of nodes and accounts at DNS providers. Certificates and rulesets are named, secrets
stand as configured, passwords are left out: apply keeps what is stored and says what is missing.
Log policies, API documents with their body controls and silences of alerts are not part of it.
Example: waf export -o waf.yaml`,
  flags: [{ flags: '-o, --out <file>', summary: 'file to write; default is standard output' }],
  // An export is no place to repeat what is not enforced.
  showsWarnings: true,
  run: async (context, _args, flags) => {
    const { exportDocuments, toManifestText } =
      await import('../../publish/manifests/manifest-export.ts');
    const { readExportedState } = await import('./export-state.ts');
    const { state, leftOut } = await readExportedState(await context.api());
    for (const one of leftOut) context.output.note(`not exported: ${one}`);
    context.output.note(outside);
    const documents = exportDocuments(state);
    const out = textFlag(flags, 'out');
    if (out !== undefined) {
      const { writeFileSync } = await import('node:fs');
      writeFileSync(out, toManifestText(documents), { mode: 0o600 });
      context.output.note(`${counted(documents.length, 'document')} written to ${out}`);
    } else if (context.output.format === 'json') {
      context.output.result(documents, { columns: [], rows: [] });
    } else context.output.line(toManifestText(documents).trimEnd());
    return 0;
  },
};
