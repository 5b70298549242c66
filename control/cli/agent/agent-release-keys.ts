/** `waf agent release-keys`: whose releases this machine takes, whatever its controller says. */

import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { AppError } from '../../../base/errors.ts';
import { readPublicKey } from '../../../base/minisign.ts';
import { releaseKeysFile } from '../../../base/node-program.ts';
import { programLimits } from '../../../base/upgrade-limits.ts';
import type { CommandDefinition } from '../command.ts';

/** The command. */
export const agentReleaseKeysCommand: CommandDefinition = {
  path: ['agent', 'release-keys'],
  summary: 'Show or replace the keys whose releases this node takes',
  help: 'Run it on the node. A node without keys takes no release. waf release key makes a key.',
  arguments: [{ name: '[key...]', summary: 'minisign public keys: lines such as RWQ…' }],
  run: ({ options, output }, keys) => {
    const path = releaseKeysFile(options.data);
    if (keys.length > 0) writeReleaseKeys(options.data, keys);
    const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : [];
    for (const line of lines) output.line(line);
    if (lines.length === 0) output.note(`${path} has no keys: this node takes no release.`);
    return Promise.resolve(0);
  },
};

/** Keeps the keys whose releases a node takes. Errors: AppError bad_flag. */
export function writeReleaseKeys(dataFolder: string, keys: readonly string[]): void {
  const wrong = keys.find((key) => readPublicKey(key) === null);
  if (wrong !== undefined) throw bad(`${wrong.slice(0, 80)} is no minisign public key`);
  if (keys.length > programLimits.keysMax) throw bad(`at most ${programLimits.keysMax} keys`);
  const path = releaseKeysFile(dataFolder);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileSync(`${path}.new`, keys.map((key) => `${key}\n`).join(''), { mode: 0o600 });
  // Public keys: root may write them, the node's own user reads them, whatever the umask.
  chmodSync(`${path}.new`, 0o644);
  renameSync(`${path}.new`, path);
}

function bad(message: string): AppError {
  return new AppError('bad_flag', message, { source: 'config' });
}
