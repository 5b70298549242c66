/**
 * Owns the order of test files: first those that compile whole rule sets, so that they run beside
 * each other and the others find their databases; then those that share products, next to each
 * other, as vitest ends a process before a file of another kind; then the rest as vitest has it.
 */

import path from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { sharesProducts } from './shares-products.ts';

/** Each compiles what none before it does; neighbors compile different things. */
const heavy = [
  'test/fuzz/corpus-agrees.test.ts',
  'test/crs/gotestwaf.test.ts',
  'test/agree/changes.test.ts',
  'test/agree/templates.test.ts',
  'test/agree/effects.test.ts',
  'test/chain/chain.test.ts',
  'test/e2e/product.test.ts',
  'test/fuzz/prefilter.test.ts',
  'test/crs/live.test.ts',
];

/** Sorts test files for vitest. */
export class HeavyFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const file = path.relative(this.ctx.config.root, moduleId);
      const at = heavy.indexOf(file);
      if (at >= 0) return at;
      const shared = sharesProducts.indexOf(file);
      return heavy.length + (shared < 0 ? sharesProducts.length : shared);
    };
    const sorted = await super.sort(files);
    return sorted.toSorted((left, right) => rank(left) - rank(right));
  }
}
