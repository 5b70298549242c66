/** `npm run bench` and its siblings `bench:NAME`: set-up, then the compiled benchmark. */

import { inRoot } from './paths.mjs';
import { prepare } from './prepare.mjs';
import { main, SetupError } from './process.mjs';

const benchmarks = ['micro', 'e2e', 'worst', 'delivery', 'detect', 'console', 'calls', 'events'];

await main(async () => {
  const [which = ''] = process.argv.splice(2, 1);
  if (!benchmarks.includes(which)) {
    throw new SetupError(`bench.mjs: expected one of ${benchmarks.join(', ')}.`);
  }
  await prepare({ tests: true });
  const script = inRoot('.build', 'bench', which, 'main.js');
  process.argv[1] = script;
  await import(script);
});
