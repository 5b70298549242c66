/** Tests that a text which is not read as SQL, for what it does not hold, would prove nothing. */

import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { soaks } from '../../../test/support/soak.ts';
import { families } from '../list.ts';
import { keepFound, scanned, scanText } from '../leaf-scan.ts';
import { readWeights, type WeightsFile } from '../weights.ts';
import { SQL } from './facts.table.ts';
import { sql } from './sql.ts';
import { sqlWords } from './words.ts';

const numRuns = soaks ? 200_000 : 5_000;
const word = families.indexOf(sql);

/** Found by a comparison without an operand, as in `this and that is`; it has no points. */
const withoutPoints = SQL.looseBoolean;

const part = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...sqlWords) },
  {
    weight: 2,
    arbitrary: fc.constantFrom('a', 'price', 'x_y', 'xp', 'caf\xc3\xa9', '$a', 'users'),
  },
  { weight: 1, arbitrary: fc.constantFrom('.', ',', '-', '+', '/', '%', '~', ':', '?', ')', '\\') },
);
const blank = fc.constantFrom(' ', ' ', '  ', '\n', '\t', '\xa0', '\0', '');
const texts = fc
  .array(fc.tuple(part, blank), { minLength: 2, maxLength: 14 })
  .map((list) => list.flat().join(''));

test('a text without signs and words that tell proves nothing as SQL', () => {
  let left = 0;
  fc.assert(
    fc.property(texts, (text) => {
      scanText(text);
      const { seen, runBytes } = scanned;
      const found = keepFound();
      if (found[word] !== 0 || (seen & sql.marks!) !== 0) return;
      left++;
      const ids: number[] = [];
      const leaf = { text, seen, runBytes, found, kind: 'text', label: '', parent: null, depth: 0 };
      sql.find({ ...leaf, kind: 'text' }, -1, { add: (id) => ids.push(id), leaveOut: () => {} });
      expect(ids.filter((id) => id !== withoutPoints)).toEqual([]);
    }),
    { numRuns },
  );
  expect(left).toBeGreaterThan(numRuns / 20);
});

const named = ['crs4', 'crs3', 'none'];
test.each(named)('by the weights %s a comparison without an operand has no points', (name) => {
  const path = new URL(`../weights/${name}.weights.json`, import.meta.url);
  const { points, pairs } = readWeights(JSON.parse(readFileSync(path, 'utf8')) as WeightsFile);
  expect([points.get(withoutPoints), pairs.get(withoutPoints)]).toEqual([undefined, undefined]);
});
