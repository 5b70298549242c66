/** The proof of idempotency keys over a store on disk: once, again, changed, failed, crossed. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import { callLimits } from '../limits/call-limits.ts';
import {
  ApiSchemaService,
  StageSchemaSourceRequestSchema,
  StageSchemaSourceResponseSchema,
  type StageSchemaSourceResponse,
} from '../../proto/gen/waf/v1/api_schema_pb.ts';
import type { Caller } from '../auth/permissions.ts';
import { keptAnswers } from '../store/answer-collections.ts';
import { openLmdbKv } from '../store/lmdb-kv.ts';
import { openStore, type Store } from '../store/store.ts';
import { writeOnce } from './idempotency.ts';

const folder = mkdtempSync(join(tmpdir(), 'waf-idempotency-'));
const method = ApiSchemaService.method.stageSchemaSource;
let store: Store;
let runs = 0;

const open = (): Promise<Store> =>
  openStore(openLmdbKv({ folder: join(folder, 'store'), durable: false }), systemClock);
beforeAll(async () => {
  store = await open();
});
afterAll(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

const caller = (tenantId: string): Caller => ({
  userId: 'user',
  username: 'user',
  tenantId,
  permissions: new Set(),
  sessionId: '',
  address: '',
});

function stage(
  init: MessageInitShape<typeof StageSchemaSourceRequestSchema>,
  tenant = 'default',
): Promise<StageSchemaSourceResponse> {
  const request = create(StageSchemaSourceRequestSchema, init);
  return writeOnce({ store, clock: systemClock }, caller(tenant), method, request, (tx) => {
    runs++;
    if (request.name === 'broken') throw new Error('refused');
    const id = `source-${tx.next('sources')}`;
    return create(StageSchemaSourceResponseSchema, { source: { id, sizeBytes: 7 } });
  });
}

const request = { siteId: 'site', name: 'a', format: 'json', source: new Uint8Array([1, 2]) };

test('an exact retry gets the first answer and changes nothing, after a restart too', async () => {
  const first = await stage({ ...request, idempotencyKey: 'key-1' });
  expect(await stage({ ...request, idempotencyKey: 'key-1' })).toEqual(first);
  await store.close();
  store = await open();
  expect(await stage({ ...request, idempotencyKey: 'key-1' })).toEqual(first);
  expect(runs).toBe(1);
});

test('a changed request needs a new key', async () => {
  const changed = stage({ ...request, name: 'b', idempotencyKey: 'key-1' });
  await expect(changed).rejects.toThrow(/^idempotencyKey: came with another request before/);
  const fresh = await stage({ ...request, name: 'b', idempotencyKey: 'key-2' });
  expect(fresh.source?.id).toBe('source-2');
});

test('a request that failed leaves its key unused', async () => {
  await expect(stage({ ...request, name: 'broken', idempotencyKey: 'key-3' })).rejects.toThrow();
  const good = await stage({ ...request, idempotencyKey: 'key-3' });
  expect(good.source?.id).toBe('source-3');
});

test('retries at the same time are one change', async () => {
  const before = runs;
  const all = await Promise.all(
    Array.from({ length: 20 }, () => stage({ ...request, idempotencyKey: 'key-4' })),
  );
  expect(new Set(all.map((answer) => answer.source?.id)).size).toBe(1);
  expect(runs).toBe(before + 1);
});

test('keys are of one tenant; without a key every request counts', async () => {
  const other = await stage({ ...request, idempotencyKey: 'key-1' }, 'other');
  expect(other.source?.id).toBe('source-5');
  const plain = [await stage(request), await stage(request)];
  expect(plain.map((answer) => answer.source?.id)).toEqual(['source-6', 'source-7']);
});

test('the oldest answers are evicted', async () => {
  const kept = store.list(keptAnswers).length;
  await store.write((tx) => {
    for (let at = kept; at < callLimits.keptAnswersMax; at++) tx.next('kept-answers');
  });
  await stage({ ...request, idempotencyKey: 'key-5' });
  expect(store.list(keptAnswers)).toHaveLength(kept);
  const before = runs;
  await stage({ ...request, idempotencyKey: 'key-1' });
  expect(runs).toBe(before + 1);
});
