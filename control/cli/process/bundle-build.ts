/** `waf bundle build`: documents to the signed bundle that the engine serves. */

import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { AppError } from '../../../base/errors.ts';
import { textFlag, type CommandDefinition } from '../command.ts';
import { unreadableText } from '../input.ts';

/** The command. */
export const bundleBuildCommand: CommandDefinition = {
  path: ['bundle', 'build'],
  summary: 'Build a runtime bundle from Site, Upstream and Policy documents',
  help: 'Example: waf bundle build -f site.yaml -o site.bundle',
  flags: [
    { flags: '-f, --file <manifest>', summary: 'YAML documents', required: true },
    { flags: '-o, --out <file>', summary: 'bundle to write', default: 'waf.bundle' },
  ],
  run: async ({ output }, _args, flags) => {
    const { buildBundleFromManifest } = await import('../../publish/manifests/manifest.ts');
    const manifest = resolve(textFlag(flags, 'file') ?? '');
    const out = resolve(textFlag(flags, 'out') ?? '');
    const built = buildBundleFromManifest(readText(manifest), dirname(manifest), {
      file: textFlag(flags, 'file') ?? '',
    });
    const { bytes, sha256, warnings } = built;
    for (const warning of warnings) output.note(`warning: ${warning}`);
    // Written whole or not at all: an engine may be reading the old one.
    writeWhole(out, bytes);
    const { sites, policies } = built;
    output.result(
      { file: out, bytes: bytes.length, sha256, sites, policies, warnings },
      {
        columns: ['FILE', 'BYTES', 'SITES', 'POLICIES', 'SHA-256'],
        rows: [[out, ...[bytes.length, sites, policies].map(String), sha256]],
      },
    );
    return 0;
  },
};

function writeWhole(out: string, bytes: Uint8Array): void {
  try {
    writeFileSync(`${out}.tmp`, bytes, { mode: 0o600 });
    renameSync(`${out}.tmp`, out);
  } catch (cause) {
    rmSync(`${out}.tmp`, { force: true });
    const { code = '' } = cause as NodeJS.ErrnoException;
    const message = `--out: ${out} cannot be written (${code})`;
    throw new AppError('bundle_unwritable', message, { source: 'config', cause });
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new AppError('bad_manifest', unreadableText(path, cause), { source: 'config', cause });
  }
}
