/** `npm run bench` and `npm run bench:e2e`: set-up, then the compiled benchmark. */

import { inRoot } from './paths.mjs';
import { prepare } from './prepare.mjs';
import { main, SetupError } from './process.mjs';

await main(async () => {
  const [which = ''] = process.argv.splice(2, 1);
  if (which !== 'micro' && which !== 'e2e') throw new SetupError('bench.mjs wants micro or e2e');
  await prepare();
  const script = inRoot('.build', 'bench', which, 'main.js');
  process.argv[1] = script;
  await import(script);
});
