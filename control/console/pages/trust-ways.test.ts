/** Tests of the ways through proxies. */

import { expect, test } from 'vitest';
import { waysOf } from './trust-ways.ts';

const edges = (...pairs: readonly (readonly [string, string])[]) =>
  pairs.map(([from, to]) => ({ from, to }));

test('a way names its proxies from the internet inwards', () => {
  expect(waysOf(edges(['internet', 'cdn'], ['cdn', 'lb'], ['lb', 'waf']))).toEqual([['cdn', 'lb']]);
});

test('branches are ways of their own, the direct one without a proxy', () => {
  const found = waysOf(
    edges(
      ['internet', 'cdn'],
      ['internet', 'lb'],
      ['internet', 'waf'],
      ['cdn', 'lb'],
      ['lb', 'waf'],
    ),
  );
  expect(found).toEqual([['cdn', 'lb'], ['lb'], []]);
});

test('a circle ends, and what does not arrive is no way', () => {
  expect(waysOf(edges(['internet', 'a'], ['a', 'b'], ['b', 'a'], ['b', 'waf']))).toEqual([
    ['a', 'b'],
  ]);
  expect(waysOf(edges(['internet', 'a']))).toEqual([]);
});

test('no more ways are drawn than a person compares', () => {
  const many = Array.from({ length: 40 }, (_, at) => `p${at}`).flatMap((id) =>
    edges(['internet', id], [id, 'waf']),
  );
  expect(waysOf(many)).toHaveLength(12);
});
