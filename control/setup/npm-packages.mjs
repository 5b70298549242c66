/** `node_modules`: installed from the lock file, and only when it differs from it. */

import { existsSync, readFileSync } from 'node:fs';
import { headersEnvironment } from './node-headers.mjs';
import { inRoot, readStamp, writeStamp } from './paths.mjs';
import { run, say, SetupError, tail } from './process.mjs';

/** Native packages are built for one Node ABI on one platform. */
const platform = `${process.platform}-${process.arch}-${process.versions.modules}`;

const stampName = 'npm';
/** Installed, their own builds not ended. */
const unbuilt = `${platform} unbuilt`;
const quiet = ['--no-audit', '--no-fund'];

/**
 * Brings node_modules to what the lock file says: the packages that the product is built from and
 * runs with, and with `tests` those of tests and gates. After a fresh installation
 * their native parts are left to `buildNpmPackages`. Errors: SetupError.
 */
export async function ensureNpmPackages({ tests }) {
  const stamp = readStamp(stampName);
  const known = ['', platform, unbuilt].includes(stamp);
  if (known && isInstalled({ tests })) {
    if (stamp === '') writeStamp(stampName, platform);
    return;
  }
  if (tests && known && isInstalled({ tests: false })) {
    say('npm packages: adding those of the tests');
    await npm(['install', '--no-save', ...quiet]);
    if (isInstalled({ tests })) return;
  }
  say('npm packages: installing from the lock file (about a minute the first time)');
  // A run that ends before they are built must not look like a whole one.
  writeStamp(stampName, unbuilt);
  const left = tests ? [] : ['--omit=dev'];
  await npm(['ci', '--ignore-scripts', ...quiet, ...left]);
}

/** Builds the native parts of packages that were just installed. Errors: SetupError. */
export async function buildNpmPackages() {
  if (readStamp(stampName) !== unbuilt) return;
  say('npm packages: building their native parts (about a minute)');
  await npm(['rebuild']);
  writeStamp(stampName, platform);
}

async function npm(args) {
  const { code, output } = await run('npm', args, {
    env: headersEnvironment(),
    task: 'npm packages',
  });
  if (code !== 0) throw new SetupError(`npm ${args[0]} failed:\n${tail(output)}`);
}

/** npm writes the hidden lock file last, so a cut-off installation never looks current. */
function isInstalled({ tests }) {
  const hidden = inRoot('node_modules', '.package-lock.json');
  if (!existsSync(hidden)) return false;
  const wanted = JSON.parse(readFileSync(inRoot('package-lock.json'), 'utf8')).packages;
  const have = JSON.parse(readFileSync(hidden, 'utf8')).packages;
  return hasPackages(wanted, have, { tests });
}

/**
 * Whether `have` holds the packages of the lock file `wanted`, both from path to entry; those that
 * only tests use are asked for with `tests`.
 */
export function hasPackages(wanted, have, { tests }) {
  for (const [path, one] of Object.entries(wanted)) {
    if (path === '' || (one.dev && !tests)) continue;
    const installed = have[path];
    if (installed === undefined) {
      if (one.optional || one.peer || one.devOptional) continue;
      return false;
    }
    if (installed.version !== one.version || installed.integrity !== one.integrity) return false;
  }
  return true;
}
