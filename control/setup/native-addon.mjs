/** `build/Release`: rebuilds the native addon when its sources or the Node version changed. */

import { existsSync } from 'node:fs';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { headersEnvironment } from './node-headers.mjs';
import { hashContents, inRoot, listFiles, readStamp, writeStamp } from './paths.mjs';
import { run, say, SetupError, tail } from './process.mjs';

const output = inRoot('build', 'Release', 'waf_native.node');

/** Runs `node-gyp rebuild` when out of date. Errors: SetupError with the compiler's last lines. */
export async function ensureNativeAddon() {
  const gyp = inRoot('binding.gyp');
  if (!existsSync(gyp)) return;
  const sources = listFiles(inRoot('native-bindings'), (name) => /\.(cc|h|mjs)$/.test(name));
  const stamp = hashContents([gyp, ...sources], `${process.version}-${process.arch}`);
  if (existsSync(output) && readStamp('native') === stamp) return;
  say('native addon: building (about a minute)');
  const script = fileURLToPath(import.meta.resolve('node-gyp/bin/node-gyp.js'));
  const { code, output: text } = await run(process.execPath, [script, 'rebuild'], {
    env: { JOBS: String(cpus().length), ...headersEnvironment() },
    task: 'native addon',
  });
  if (code !== 0 || !existsSync(output)) {
    throw new SetupError(`The native addon did not build:\n${tail(text)}`);
  }
  writeStamp('native', stamp);
}
