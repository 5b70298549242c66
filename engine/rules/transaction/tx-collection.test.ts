/** Tests the order of TX variables: a transaction over a base lists what a plain map would. */

import { expect, test } from 'vitest';
import fc from 'fast-check';
import { TxCollection } from './tx-collection.ts';

const seed = Number(process.env['WAF_FUZZ_SEED'] ?? Date.now() % 2 ** 31);
const names = ['a', 'b', 'c', 'd'];

test(`sets and removals over a base list as in one map (seed ${seed})`, () => {
  const step = fc.record({
    name: fc.constantFrom(...names),
    value: fc.option(fc.constantFrom('0', '1', ''), { nil: null }),
  });
  fc.assert(
    fc.property(fc.uniqueArray(fc.constantFrom(...names)), fc.array(step), (base, steps) => {
      const start = new Map(base.map((name) => [name, 'base']));
      const plain = new Map(start);
      const tx = new TxCollection();
      for (let round = 0; round < 2; round++) {
        tx.reset(start);
        plain.clear();
        for (const [name, value] of start) plain.set(name, value);
        for (const { name, value } of steps) {
          if (value === null) {
            tx.delete(name);
            plain.delete(name);
          } else {
            tx.set(name, value);
            plain.set(name, value);
          }
        }
      }
      const wanted = [...plain].map(([key, value]) => ({ key, value }));
      expect(tx.entries()).toEqual(wanted);
      const matching = wanted.filter(({ key }) => /[ac]/.test(key));
      expect(tx.matching(/[ac]/)).toEqual(matching);
      for (const name of names) expect(tx.get(name)).toBe(plain.get(name));
    }),
    { seed, numRuns: 500 },
  );
});
