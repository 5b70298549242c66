/** `build/Release`: rebuilds the native addon when its sources or the Node version changed. */

import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { cpus } from 'node:os';
import { headersEnvironment } from './node-headers.mjs';
import { hashContents, inRoot, listFiles, readStamp, writeStamp } from './paths.mjs';
import { run, say, SetupError, tail } from './process.mjs';

/** Not `import.meta.resolve`: the test runner, which has this built, too, does not have it. */
const require = createRequire(import.meta.url);
const output = inRoot('build', 'Release', 'waf_native.node');

/** Runs node-gyp when out of date. Errors: SetupError with the compiler's last lines. */
export async function ensureNativeAddon() {
  const gyp = inRoot('binding.gyp');
  if (!existsSync(gyp)) return;
  const sources = listFiles(inRoot('native-bindings'), (name) => /\.(cc|h|mjs)$/.test(name));
  const stamp = hashContents([gyp, ...sources], `${process.version}-${process.arch}`);
  if (existsSync(output) && readStamp('native') === stamp) return;
  const steps = builtForThisNode() ? ['configure', 'build'] : ['rebuild'];
  say(`native addon: building ${steps[0] === 'rebuild' ? '(about a minute)' : 'what changed'}`);
  const script = require.resolve('node-gyp/bin/node-gyp.js');
  const { code, output: text } = await run(process.execPath, [script, ...steps], {
    env: { JOBS: String(cpus().length), ...headersEnvironment() },
    task: 'native addon',
  });
  if (code !== 0 || !existsSync(output)) {
    throw new SetupError(`The native addon did not build:\n${tail(text)}`);
  }
  writeStamp('native', stamp);
}

/** Whether the objects in `build` fit: make then compiles only what changed since. */
function builtForThisNode() {
  try {
    const settings = readFileSync(inRoot('build', 'config.gypi'), 'utf8');
    const { modules } = process.versions;
    return [`"node_module_version": ${modules},`, `"target_arch": "${process.arch}"`].every(
      (wanted) => settings.includes(wanted),
    );
  } catch {
    // Nothing was built yet.
    return false;
  }
}
