/** `npm start`: set-up, then `waf run` in this very process. */

import { inRoot } from './paths.mjs';
import { prepare } from './prepare.mjs';
import { main } from './process.mjs';

await main(async () => {
  await prepare();
  process.argv.splice(1, 1, inRoot('.build', 'control', 'cli', 'main.js'), 'run');
  await import(inRoot('.build', 'control', 'cli', 'main.js'));
});
