/** `npm run check`: the static gates. */

import { gateCount, runGates } from './gates.mjs';
import { prepare } from './prepare.mjs';
import { main, say } from './process.mjs';

await main(async () => {
  await prepare({ build: false, tests: true });
  const failed = await runGates();
  say(failed.length === 0 ? `all ${gateCount} gates passed` : `failed: ${failed.join(', ')}`);
  return failed.length === 0 ? 0 : 1;
});
