#!/usr/bin/env node
/** The `waf` command of a checkout: set-up where something changed, then the compiled command. */

import { inRoot } from './paths.mjs';
import { prepare } from './prepare.mjs';
import { main } from './process.mjs';

await main(async () => {
  await prepare();
  process.argv[1] = inRoot('.build', 'control', 'cli', 'main.js');
  await import(inRoot('.build', 'control', 'cli', 'main.js'));
});
