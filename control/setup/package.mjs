/**
 * `npm run package`: set-up, then the Debian package of what it built, by `waf release deb`; with
 * `-- --image` the OCI image, by `waf release image`.
 */

import { writeBuildFacts } from './compile.mjs';
import { inRoot } from './paths.mjs';
import { prepare } from './prepare.mjs';
import { main } from './process.mjs';

await main(async () => {
  await prepare();
  await writeBuildFacts();
  const script = inRoot('.build', 'control', 'cli', 'main.js');
  const flags = process.argv.slice(2);
  const kind = flags.includes('--image') ? 'image' : 'deb';
  const others = flags.filter((flag) => flag !== '--image');
  process.argv.splice(1, process.argv.length, script, 'release', kind, ...others);
  await import(script);
});
