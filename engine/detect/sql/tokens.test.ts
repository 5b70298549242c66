/** Fuzzes the reading of SQL: any bytes give tokens in order, inside the text, at a linear cost. */

import { expect, test } from 'vitest';
import fc from 'fast-check';
import { SqlTokens } from './tokens.ts';
import { TOKEN } from './words.ts';
import { soaks } from '../../../test/support/soak.ts';

const pieces = fc.constantFrom(
  ...["'", '"', '`', '/*', '*/', '/*!50000', '--', '#', ';', '(', ')', ' or ', '1', '0x4', '1e+'],
  ...['union', ' select ', ',', '@@v', '@', '.', '||', '&&', '=', '<=>', '!', '\0', '\xff', '%'],
);
const texts = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 400 }).map((text) => {
    return Buffer.from(text).toString('latin1');
  }),
  fc.array(pieces, { maxLength: 200 }).map((list) => list.join('')),
);

test('tokens are in order, and the work is linear', () => {
  const tokens = new SqlTokens();
  fc.assert(
    fc.property(texts, (text) => {
      tokens.steps = 0;
      let to = 0;
      tokens.read(text, 0);
      for (let at = 0; at < tokens.count; at++) {
        expect(tokens.start[at]!).toBeGreaterThanOrEqual(to);
        expect(tokens.end[at]!).toBeGreaterThan(tokens.start[at]!);
        to = tokens.end[at]!;
      }
      expect(to).toBeLessThanOrEqual(text.length);
      expect(tokens.stopped).toBe(text.length);
      expect(tokens.steps).toBeLessThanOrEqual(3 * text.length);
    }),
    { numRuns: soaks ? 2_000_000 : 2_000 },
  );
});

test('a text with more tokens than fit is read in windows', () => {
  const tokens = new SqlTokens();
  const text = '(1),'.repeat(20_000);
  let from = 0;
  let count = 0;
  for (let windows = 0; from < text.length; windows++) {
    expect(windows).toBeLessThan(20);
    tokens.read(text, from);
    expect(tokens.stopped).toBeGreaterThan(from);
    count += tokens.count;
    from = tokens.stopped;
  }
  expect(count).toBe(80_000);
});

test('parentheses and commas are tokens of different kinds', () => {
  const tokens = new SqlTokens();
  tokens.read('f(1,2)', 0);
  expect([...tokens.kind.subarray(0, tokens.count)]).toEqual([
    ...[TOKEN.name, TOKEN.open, TOKEN.number, TOKEN.comma, TOKEN.number, TOKEN.close],
  ]);
});
