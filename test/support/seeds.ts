/**
 * The seed of property tests that name none: WAF_FUZZ_SEED where it is set, as under `npm test`, so
 * that a run fails for a change and not for luck; else fast-check draws one.
 */

import { readFileSync } from 'node:fs';
import { expect } from 'vitest';

const seed = Number(process.env['WAF_FUZZ_SEED'] ?? Number.NaN);
const file = expect.getState().testPath ?? '';

// Loading fast-check costs more than most test files take.
if (!Number.isNaN(seed) && readFileSync(file, 'utf8').includes("from 'fast-check'")) {
  const { configureGlobal } = await import('fast-check');
  configureGlobal({ seed });
}
