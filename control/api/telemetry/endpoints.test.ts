/** Proof that traffic below a template of the catalog is shown with the template. */

import { expect, test } from 'vitest';
import type { ApiAssetRecord } from '../../domain/documents/api-records.ts';
import type { CounterStore } from '../../observe/counter-store.ts';
import type { ReadStore } from '../../store/store.ts';
import { endpointsOf } from './endpoints.ts';

const place = { tenantId: 't', siteId: 's', method: 'GET', host: 'a.test' };
const record = (path: string, cataloged = true): ApiAssetRecord => ({
  ...{ ...place, id: `asset ${path}`, path, cataloged, hidden: false, revision: 1 },
  ...{ createdAt: '', updatedAt: '' },
});
const seen = (path: string, requests: number, atMs: number) => ({
  ...{ method: 'GET', host: 'a.test', path, requests, firstSeenMs: atMs, lastSeenMs: atMs + 5 },
});

function shown(records: readonly ApiAssetRecord[], traffic: readonly ReturnType<typeof seen>[]) {
  const store = { find: () => records } as unknown as ReadStore;
  const counters = {
    endpoints: () => ({ endpoints: traffic, omitted: 0 }),
  } as unknown as CounterStore;
  return endpointsOf({ store, counters }, 't', 's').map(
    ({ path, requests, firstSeenMs, lastSeenMs }) => [path, requests, firstSeenMs, lastSeenMs],
  );
}

test('a template has the traffic of the paths below it', () => {
  const traffic = [seen('/users/ann', 2, 10), seen('/users/bob', 3, 20), seen('/users/{}', 4, 30)];
  expect(shown([record('/users/{id}')], traffic)).toEqual([['/users/{id}', 9, 10, 35]]);
});

test('a path with a record of its own, and other shapes, keep theirs', () => {
  const records = [record('/users/{id}'), record('/users/me'), record('/users/v{n}.json')];
  const traffic = [
    ...[seen('/users/me', 1, 10), seen('/users/v2.json', 2, 20), seen('/users/a/b', 4, 30)],
    ...[seen('/users/ann', 8, 40), seen('/teams/ann', 16, 50)],
  ];
  expect(shown(records, traffic)).toEqual([
    ['/teams/ann', 16, 50, 55],
    ['/users/a/b', 4, 30, 35],
    ['/users/me', 1, 10, 15],
    ['/users/v{n}.json', 2, 20, 25],
    ['/users/{id}', 8, 40, 45],
  ]);
});

test('what is no template of the catalog takes no traffic', () => {
  expect(shown([record('/users/{id}', false)], [seen('/users/ann', 2, 10)])).toEqual([
    ['/users/ann', 2, 10, 15],
    ['/users/{id}', 0, 0, 0],
  ]);
});
