/** Proof of how names with brackets are read: the same as PHP 8.2 and qs 6 read them. */

import { expect, test } from 'vitest';
import { OriginNames, readName } from './origin-names.ts';

type Row = readonly [by: 'php' | 'qs', sent: string, head: string, place: number];
const rows: readonly Row[] = [
  ['php', 'n', 'n', -1],
  ['php', 'n[]', 'n', -2],
  ['php', 'n[ ]', 'n', -2],
  ['php', 'n[7]', 'n', 7],
  ['php', 'n[07]', 'n[07]', -1],
  ['php', 'n[a]', 'n[a]', -1],
  ['php', 'n[a][]', 'n[a]', -2],
  ['php', 'n[]x', 'n', -2],
  ['php', 'n[][a', 'n', -2],
  ['php', 'n[a]x[b]', 'n[a]', -1],
  ['php', ' n', 'n', -1],
  ['php', 'n.m', 'n_m', -1],
  ['php', 'n m[]', 'n_m', -2],
  ['php', 'n[', 'n_', -1],
  ['php', 'n\0m', 'n', -1],
  ['php', '[n]', '', -1],
  ['qs', 'n', 'n', -1],
  ['qs', 'n[]', 'n', -2],
  ['qs', 'n[0]', 'n', 0],
  ['qs', '[n]', 'n', -1],
  ['qs', '[n][]', 'n', -2],
  ['qs', 'n[]x', 'n', -2],
  ['qs', 'n[a]x[b]', 'n[a][b]', -1],
  ['qs', 'n.m', 'n.m', -1],
  ['qs', 'n[a', 'n[[a]', -1],
];

test.each(rows)('%s reads %j', (by, sent, head, place) => {
  expect(readName(sent, by)).toEqual({ head, place });
});

type Group = readonly [by: 'none' | 'php' | 'qs', sent: string, seen: object, how: object];
const groups: readonly Group[] = [
  ['none', 'n[]=1 n=2', { 'n[]': ['1'], n: ['2'] }, {}],
  ['php', 'n=1 n=2', { n: ['1', '2'] }, {}],
  ['php', 'n[]=1 n[]=2', { n: ['1', '2'] }, { n: 'list' }],
  ['php', 'n[1]=b n[0]=a', { n: ['a', 'b'] }, { n: 'list' }],
  ['php', 'n[0]=a n[2]=b', { n: ['a', 'b'] }, { n: 'mixed' }],
  ['php', 'n[0]=a n[0]=b', { n: ['a', 'b'] }, { n: 'mixed' }],
  ['php', 'n=1 n[]=2', { n: ['1', '2'] }, { n: 'mixed' }],
  ['qs', 'n=1 n[]=2', { n: ['1', '2'] }, { n: 'list' }],
  ['qs', 'n[]=1 n[0]=2', { n: ['1', '2'] }, { n: 'mixed' }],
  ['php', 'n[a]=1', { 'n[a]': ['1'] }, { n: 'map' }],
  ['php', 'n=1 n[a]=1', { n: ['1'], 'n[a]': ['1'] }, { n: 'mixed' }],
  ['php', 'n[a]=1 n=1', { n: ['1'], 'n[a]': ['1'] }, { n: 'mixed' }],
  ['php', 'page[size]=1', { 'page[size]': ['1'] }, {}],
  ['php', 'page[size][]=1', { 'page[size]': ['1'] }, { 'page[size]': 'list' }],
  ['php', 'l=1 l[]=2', { 'l[]': ['1', '2'] }, { 'l[]': 'mixed' }],
  ['php', 'd_t=1 d.t=2', { 'd.t': ['1', '2'] }, {}],
];

test.each(groups)('%s groups %j', (by, sent, seen, how) => {
  const names = new OriginNames(by, ['n', 'l[]', 'd.t', 'page[size]']);
  const { byName, written } = names.group(
    sent.split(' ').map((pair) => pair.split('=') as [string, string]),
  );
  expect(Object.fromEntries(byName)).toEqual(seen);
  expect(Object.fromEntries(written)).toEqual(how);
});

test('a name of megabytes of brackets is grouped: each costs its own length', () => {
  const names = new OriginNames('php', ['n', 'page[size]']);
  // Were each to cost the length of the name, this would take longer than a test may.
  const sent = `n${'[a]'.repeat(500_000)}`;
  expect(names.group([[sent, '1']]).written).toEqual(new Map([['n', 'map']]));
});
