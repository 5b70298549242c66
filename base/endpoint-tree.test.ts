/** Proof of learning endpoints: what becomes a parameter, and bounded memory under random paths. */

import { expect, test } from 'vitest';
import { EndpointTree } from './endpoint-tree.ts';
import { endpointLimits } from './schema-limits.ts';

const rows: readonly (readonly [path: string, learned: string])[] = [
  ['/', '/'],
  ['/users', '/users'],
  ['/users/7', '/users/{value}'],
  ['/users/7/pets', '/users/{value}/pets'],
  ['/users/3f2504e0-4f89-11d3-9a0c-0305e82c3301', '/users/{value}'],
  ['/commits/da39a3ee5e6b4b0d3255bfef95601890afd80709', '/commits/{value}'],
  ['/days/2026-11-22', '/days/{value}'],
  ['/times/2026-11-22T10:00:00Z', '/times/{value}'],
  ['/mail/a@example.com', '/mail/{value}'],
  ['/names/J%C3%BCrgen', '/names/{value}'],
  ['/tokens/01ARZ3NDEKTSV4RRFFQ69G5FAV', '/tokens/{value}'],
  ['/v1/users', '/v1/users'],
  ['/.well-known/health', '/.well-known/health'],
  [`/${'x'.repeat(endpointLimits.segmentCharsMax + 1)}`, '/{value}'],
];

test.each(rows)('%s is learned as %s', (path, learned) => {
  const tree = new EndpointTree();
  tree.add('GET', 'api.test', path, 3);
  expect(tree.list()).toEqual([{ method: 'GET', host: 'api.test', path: learned, count: 3 }]);
});

test('many names at one place become one parameter, with what is below them', () => {
  const tree = new EndpointTree();
  const names = Array.from({ length: endpointLimits.childrenMax + 5 }, (_, at) => word(at));
  for (const name of names) tree.add('GET', 'api.test', `/shops/${name}/orders`, 1);
  tree.add('GET', 'api.test', '/shops/new/invoices', 2);
  expect(tree.list()).toEqual([
    { method: 'GET', host: 'api.test', path: '/shops/{any}/orders', count: names.length },
    { method: 'GET', host: 'api.test', path: '/shops/{any}/invoices', count: 2 },
  ]);
});

test('random paths take bounded memory, and every request is counted', () => {
  const tree = new EndpointTree();
  let seed = 7;
  const random = (most: number): number => {
    seed = (seed * 48_271) % 2_147_483_647;
    return Math.floor((seed / 2_147_483_647) * most);
  };
  const requests = 200_000;
  for (let at = 0; at < requests; at++) {
    const depth = 1 + random(6);
    const path = Array.from({ length: depth }, () => `/${word(random(1_000_000))}`).join('');
    tree.add('GET', 'api.test', path, 1);
  }
  const listed = tree.list();
  const counted = listed.reduce((sum, { count }) => sum + count, 0);
  expect(counted + tree.omitted).toBe(requests);
  expect(listed.length).toBeLessThan(endpointLimits.nodesMax);
  expect(
    tree
      .list(endpointLimits.reportedFrom)
      .every(({ path }) => /^(\/\{(?:any|value)\})+$/.test(path)),
  ).toBe(true);
});

test('what was reported is not reported again', () => {
  const tree = new EndpointTree();
  tree.add('GET', 'api.test', '/users', 4);
  expect(tree.drain(5)).toEqual([]);
  tree.add('GET', 'api.test', '/users', 2);
  expect(tree.drain(5)).toMatchObject([{ path: '/users', count: 6 }]);
  expect(tree.drain(1)).toEqual([]);
});

test('methods that are none, and longer paths, find no place', () => {
  const tree = new EndpointTree();
  tree.add('get', 'api.test', '/users', 1);
  tree.add('GET', 'api.test', '/a'.repeat(endpointLimits.depthMax + 1), 1);
  tree.add('GET', 'api.test', '*', 1);
  expect([tree.list(), tree.omitted]).toEqual([[], 3]);
});

/** A name of letters only. */
function word(number: number): string {
  let text = 'q';
  for (let rest = number; rest > 0; rest = Math.floor(rest / 26)) {
    text += String.fromCharCode(97 + (rest % 26));
  }
  return text;
}
