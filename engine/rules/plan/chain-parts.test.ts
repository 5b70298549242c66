/** Tests which patterns of a scan group share a database for values of every kind. */

import { expect, test } from 'vitest';
import { chainPartsOf, partOf } from './chain-parts.ts';
import type { ScanPattern } from './scan-draft.ts';

function patternsOf(counts: Readonly<Record<string, number>>): ScanPattern[] {
  const filter = { kind: 'pattern', pattern: 'x', caseless: false } as const;
  return Object.entries(counts).flatMap(([chain, count]) => {
    return Array.from({ length: count }, (_, targetId) => {
      return { targetId, chain, filter, negated: false };
    });
  });
}

test.each([
  ['no patterns have no part', {}, []],
  ['one chain is one part', { '': 40 }, [['']]],
  ['few patterns of many chains are one part', { '': 4, '1': 1, '1,2': 3 }, [['', '1', '1,2']]],
  ['chains with many have their own', { '': 9, '1': 5, '2': 4, '3': 1 }, [[''], ['1'], ['2', '3']]],
] as const)('%s', (_name, counts, wanted) => {
  const patterns = patternsOf(counts);
  const parts = chainPartsOf(patterns);
  expect(parts).toEqual(wanted);
  for (const pattern of patterns) expect(parts[partOf(parts, pattern)]).toContain(pattern.chain);
});

test('the order of patterns changes nothing', () => {
  const patterns = patternsOf({ '': 9, '1': 5, '2': 4, '3': 1 });
  expect(chainPartsOf(patterns.toReversed())).toEqual(chainPartsOf(patterns));
});

test('what is no pattern has no part', () => {
  const [pattern] = patternsOf({ '7': 1 });
  const xss: ScanPattern = { ...pattern!, filter: { kind: 'xss' } };
  expect(partOf(chainPartsOf([xss]), xss)).toBe(-1);
});
