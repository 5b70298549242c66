/** `node_modules`: installed from the lock file, and only when it differs from it. */

import { existsSync, readFileSync } from 'node:fs';
import { headersEnvironment } from './node-headers.mjs';
import { inRoot, readStamp, writeStamp } from './paths.mjs';
import { run, say, SetupError, tail } from './process.mjs';

/** Native packages are built for one Node ABI on one platform. */
const platform = `${process.platform}-${process.arch}-${process.versions.modules}`;

/** Runs `npm ci` when node_modules is not what the lock file says. Errors: SetupError. */
export async function ensureNpmPackages() {
  if (isCurrent()) return;
  say('npm packages: installing from the lock file (one to three minutes the first time)');
  const { code, output } = await run('npm', ['ci', '--no-audit', '--no-fund'], {
    env: headersEnvironment(),
    task: 'npm packages',
  });
  if (code !== 0) throw new SetupError(`npm ci failed:\n${tail(output)}`);
  writeStamp('npm', platform);
}

/** npm writes the hidden lock file last, so a cut-off installation never looks current. */
function isCurrent() {
  const hidden = inRoot('node_modules', '.package-lock.json');
  if (!existsSync(hidden)) return false;
  const wanted = JSON.parse(readFileSync(inRoot('package-lock.json'), 'utf8')).packages;
  const have = JSON.parse(readFileSync(hidden, 'utf8')).packages;
  for (const [path, one] of Object.entries(wanted)) {
    if (path === '') continue;
    const installed = have[path];
    if (installed === undefined) {
      if (one.optional || one.peer || one.devOptional) continue;
      return false;
    }
    if (installed.version !== one.version || installed.integrity !== one.integrity) return false;
  }
  const stamp = readStamp('npm');
  if (stamp === '') writeStamp('npm', platform);
  return stamp === '' || stamp === platform;
}
