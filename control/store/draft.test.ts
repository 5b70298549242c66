/** The proof that reading through a draft is reading what the storage will hold. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compareKeys, Draft, readThrough } from './draft.ts';
import type { KvRange } from './kv.ts';
import { openMemoryKv } from './memory-kv.ts';

const key = fc.string({
  unit: fc.constantFrom('a', 'b', '\u0000', 'é', '\uffee', '😀'),
  maxLength: 3,
});
const change = fc.record({ key, value: fc.option(fc.nat(255), { nil: null }) });
const asked = fc.record({
  bounds: fc.tuple(key, key),
  reverse: fc.boolean(),
  keysOnly: fc.boolean(),
  limit: fc.option(fc.nat(4), { nil: undefined }),
});

const rangeOf = ({
  bounds,
  reverse,
  keysOnly,
  limit,
}: typeof asked extends fc.Arbitrary<infer T> ? T : never): KvRange => {
  const [start, end] = bounds.toSorted(compareKeys) as [string, string];
  return { start, end, reverse, keysOnly, ...(limit === undefined ? {} : { limit }) };
};

test('ranges and look-ups through a draft are those of the changed storage', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(change), fc.array(fc.oneof(change, asked)), async (first, then) => {
      const [below, whole] = [openMemoryKv(), openMemoryKv()];
      for (const kv of [below, whole]) {
        await kv.write((writer) => {
          for (const { key: name, value } of first) {
            if (value !== null) writer.put(name, new Uint8Array([value]));
          }
        });
      }
      const draft = new Draft();
      const reader = readThrough(draft, below);
      for (const step of then) {
        if ('bounds' in step) {
          const range = rangeOf(step);
          const shown = (kv: typeof reader) =>
            [...kv.range(range)].map((one) => [one.key, [...one.value]]);
          expect(shown(reader)).toEqual(shown(whole));
          continue;
        }
        const value = step.value === null ? null : new Uint8Array([step.value]);
        draft.set(step.key, value);
        await whole.write((writer) => {
          if (value === null) writer.remove(step.key);
          else writer.put(step.key, value);
        });
        expect(reader.get(step.key)).toEqual(whole.get(step.key));
      }
    }),
    { numRuns: 300 },
  );
});

test('keys are ordered as their bytes', () => {
  fc.assert(
    fc.property(key, key, (left, right) => {
      expect(Math.sign(compareKeys(left, right))).toBe(
        Math.sign(Buffer.compare(Buffer.from(left), Buffer.from(right))),
      );
    }),
  );
});

test('a range that was begun shows what the draft forgets meanwhile', () => {
  const draft = new Draft();
  const names = ['a', 'b', 'c'];
  for (const [at, name] of names.entries()) draft.set(name, new Uint8Array([at]));
  const shown: [string, number[]][] = [];
  for (const one of readThrough(draft, openMemoryKv()).range({ start: 'a', end: 'z' })) {
    shown.push([one.key, [...one.value]]);
    // The disk has them now; the state below that is being read is older.
    draft.clear();
  }
  expect(shown).toEqual(names.map((name, at) => [name, [at]]));
});
