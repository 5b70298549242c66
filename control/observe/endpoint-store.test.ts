/** Proof that endpoints of all nodes add up by site, in bounded number, with times. */

import { create } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import {
  CounterDeltaSchema,
  CounterEntrySchema,
} from '../../proto/gen/waf/runtime/v1/observation_pb.ts';
import { omittedEndpoints } from '../../engine/contract/api-counts.ts';
import { endpointLimits } from '../../base/schema-limits.ts';
import { openMemoryKv } from '../store/memory-kv.ts';
import { addEndpoints, readEndpoints } from './endpoint-store.ts';

function delta(keys: readonly string[]) {
  const entries = keys.map((key) =>
    create(CounterEntrySchema, { family: 'api_endpoints', key, count: 5n }),
  );
  return create(CounterDeltaSchema, { siteId: 's', entries });
}

test('counts of nodes add up; times are the first and the last', async () => {
  const kv = openMemoryKv();
  await kv.write((tx) => addEndpoints(tx, 't', 1_000, delta(['GET a.test /users/{value}'])));
  await kv.write((tx) =>
    addEndpoints(tx, 't', 2_000, delta(['GET a.test /users/{value}', 'POST a.test /users'])),
  );
  const { endpoints, omitted } = readEndpoints(kv, 't', 's');
  const place = { method: 'GET', host: 'a.test', path: '/users/{value}' };
  expect(endpoints).toContainEqual({
    ...place,
    requests: 10,
    firstSeenMs: 1_000,
    lastSeenMs: 2_000,
  });
  expect(endpoints).toHaveLength(2);
  expect(omitted).toBe(0);
  expect(readEndpoints(kv, 'other', 's').endpoints).toEqual([]);
});

test('requests that nodes left out add up, and are no endpoint', async () => {
  const kv = openMemoryKv();
  await kv.write((tx) => addEndpoints(tx, 't', 1_000, delta([omittedEndpoints])));
  await kv.write((tx) =>
    addEndpoints(tx, 't', 2_000, delta([omittedEndpoints, 'GET a.test /users'])),
  );
  const { endpoints, omitted } = readEndpoints(kv, 't', 's');
  expect(endpoints.map(({ path }) => path)).toEqual(['/users']);
  expect(omitted).toBe(10);
});

test('names of many nodes at one place become one parameter', async () => {
  const kv = openMemoryKv();
  for (let at = 0; at < 4 * endpointLimits.childrenMax; at++) {
    const name = [...String(at)].map((digit) => 'abcdefghij'[Number(digit)]).join('');
    await kv.write((tx) => addEndpoints(tx, 't', 1_000 + at, delta([`GET a.test /x${name}`])));
  }
  const { endpoints } = readEndpoints(kv, 't', 's');
  expect(endpoints.map(({ path }) => path)).toEqual(['/{any}']);
  expect(endpoints[0]!.requests).toBe(20 * endpointLimits.childrenMax);
});
