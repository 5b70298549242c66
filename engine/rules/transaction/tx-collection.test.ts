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

/** What memoized rules write, as a plan's analysis would hand it over. */
const writes: readonly (readonly [string, string | null])[] = [
  ['score', '3'],
  ['once', null],
];

/** A collection with those writes deferred, and whether they have been applied. */
function deferring(base: ReadonlyMap<string, string>): {
  tx: TxCollection;
  applied: () => boolean;
} {
  const tx = new TxCollection();
  let done = false;
  tx.reset(base);
  tx.defer({
    written: new Set(writes.map(([name]) => name)),
    used: new Set([...writes.map(([name]) => name), 'limit']),
    read: (name) => writes.findLast(([written]) => written === name)?.[1] ?? undefined,
    materialize() {
      done = true;
      tx.settle(base);
      for (const [name, value] of writes) {
        if (value === null) tx.delete(name);
        else tx.set(name, value);
      }
    },
  });
  return { tx, applied: () => done };
}

const startBase = new Map([
  ['once', '1'],
  ['limit', '5'],
  ['other', 'o'],
]);

test.each<[string, (tx: TxCollection) => unknown, boolean]>([
  ['reading a written name', (tx) => tx.get('score'), false],
  ['reading a name that is only read', (tx) => tx.get('limit'), false],
  ['setting a name that is read', (tx) => tx.set('limit', '9'), true],
  ['removing a written name', (tx) => tx.delete('once'), true],
  ['setting another name', (tx) => tx.set('other', 'x'), false],
  ['listing all', (tx) => tx.entries(), true],
  ['a pattern that finds a written name', (tx) => tx.matching(/^sc/), true],
  ['a pattern that finds none', (tx) => tx.matching(/^oth/), false],
])('%s applies deferred writes only where it must', (_name, access, expected) => {
  const { tx, applied } = deferring(startBase);
  access(tx);
  expect(applied()).toBe(expected);
});

test('a deferral shows in no answer', () => {
  const name = fc.constantFrom('score', 'once', 'limit', 'other', 'new');
  const step = fc.oneof(
    fc.record({ op: fc.constant('get' as const), name }),
    fc.record({ op: fc.constant('set' as const), name, value: fc.constantFrom('1', '2') }),
    fc.record({ op: fc.constant('delete' as const), name }),
    fc.record({ op: fc.constant('matching' as const), name }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
      const { tx } = deferring(startBase);
      const plain = new TxCollection();
      plain.reset(startBase);
      for (const [key, value] of writes) {
        if (value === null) plain.delete(key);
        else plain.set(key, value);
      }
      for (const one of steps) {
        if (one.op === 'set') for (const each of [tx, plain]) each.set(one.name, one.value);
        else if (one.op === 'delete') for (const each of [tx, plain]) each.delete(one.name);
        else if (one.op === 'get') expect(tx.get(one.name)).toBe(plain.get(one.name));
        else {
          const regex = new RegExp(`^${one.name.slice(0, 2)}`);
          expect(tx.matching(regex)).toEqual(plain.matching(regex));
        }
      }
      expect(Object.fromEntries(tx.snapshot())).toEqual(Object.fromEntries(plain.snapshot()));
    }),
  );
});
