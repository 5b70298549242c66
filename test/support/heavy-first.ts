/**
 * The order of test files: first those that compile whole rule sets, so that they run beside each
 * other and the others find their databases; then the two longest; beside these, in the process
 * that is left, those that share products, next to each other, as vitest ends a process before a
 * file of another kind; then the longest others, since a long one that begins last keeps a single
 * process busy; then the rest as vitest has it. With WAF_FILE_ORDER=<number> the order is drawn
 * from that number, so that what depends on the file before it shows.
 */

import path from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { seededRandom } from './random.ts';
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

/** They keep all processes but one busy for longer than all that share products take. */
const longest = ['test/browser/console-tasks.test.ts', 'test/browser/console-walk.test.ts'];

/** Each takes a minute or more; vitest knows that only after a first run. */
const long = [
  'test/browser/console-pages.test.ts',
  'test/agree/replay.test.ts',
  'test/patches/known-faults.test.ts',
  'test/e2e/upgrade.test.ts',
  'test/fault/exact-counters.test.ts',
  'test/e2e/nodes.test.ts',
  'test/e2e/acme.test.ts',
  'test/api/unbuildable-rules.test.ts',
];
const ranked = [...heavy, ...longest, ...sharesProducts, ...long];

/** Sorts test files for vitest. */
export class HeavyFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const order = process.env['WAF_FILE_ORDER'];
    if (order !== undefined) return drawn(files, Number(order));
    const rank = ({ moduleId }: TestSpecification): number => {
      const file = path.relative(this.ctx.config.root, moduleId);
      const at = ranked.indexOf(file);
      return at >= 0 ? at : ranked.length;
    };
    const sorted = await super.sort(files);
    return sorted.toSorted((left, right) => rank(left) - rank(right));
  }
}

/** The files in an order that only the seed and their names decide. */
function drawn(files: readonly TestSpecification[], seed: number): TestSpecification[] {
  const random = seededRandom(seed);
  return files
    .toSorted((left, right) => (left.moduleId < right.moduleId ? -1 : 1))
    .map((file) => ({ file, place: random() }))
    .toSorted((left, right) => left.place - right.place)
    .map(({ file }) => file);
}
