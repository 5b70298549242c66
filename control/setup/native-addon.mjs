/** Owns build/Release: rebuilds the native addon when its sources or the Node version changed. */

import { existsSync } from 'node:fs';
import { cpus } from 'node:os';
import { dirname, join } from 'node:path';
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
  const script = inRoot('node_modules', 'node-gyp', 'bin', 'node-gyp.js');
  const { code, output: text } = await run(process.execPath, [script, 'rebuild', ...headers()], {
    env: { JOBS: String(cpus().length) },
  });
  if (code !== 0 || !existsSync(output)) {
    throw new SetupError(`The native addon did not build:\n${tail(text)}`);
  }
  writeStamp('native', stamp);
}

/** Node's own headers, where they lie beside it; node-gyp fetches them otherwise. */
function headers() {
  if (process.env.npm_config_nodedir) return [];
  const prefix = dirname(dirname(process.execPath));
  return existsSync(join(prefix, 'include', 'node', 'node.h')) ? [`--nodedir=${prefix}`] : [];
}
