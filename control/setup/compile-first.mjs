/** Compiles the product before the first test file: tests run what users run. */

import { compileProduct } from './prepare.mjs';

/** Called by vitest before the first test file. Cost: nothing where no source changed. */
export async function setup() {
  await compileProduct();
}
