/** `npm run package`: set-up, then the Debian package of what it built, by `waf release deb`. */

import { inRoot } from './paths.mjs';
import { prepare } from './prepare.mjs';
import { main } from './process.mjs';

await main(async () => {
  await prepare();
  const script = inRoot('.build', 'control', 'cli', 'main.js');
  process.argv.splice(1, 1, script, 'release', 'deb');
  await import(script);
});
