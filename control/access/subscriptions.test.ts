/** The proof of what time does to lists: due fetches, lapsed entries, what a crash left. */

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Clock } from '../../base/clock.ts';
import { parseNetwork } from '../../base/ip-address.ts';
import { silentLogger } from '../../base/log.ts';
import { checkSource } from '../domain/access/ip-list-source.ts';
import { allEntries, type IpEntry } from '../domain/access/ip-list-content.ts';
import { heldContentId, type IpListRecord } from '../domain/access/ip-list.ts';
import {
  ipListChunks,
  ipListGarbage,
  ipListRuns,
  ipLists,
  settingsId,
  systemSettings,
} from '../store/collections.ts';
import { openMemoryKv } from '../store/memory-kv.ts';
import { openStore, type Store } from '../store/store.ts';
import {
  adoptContent,
  chunkReader,
  contentOf,
  dropGarbage,
  editEntries,
  stageContent,
} from './list-contents.ts';
import { removeLapsed } from './remove-lapsed.ts';
import { startSubscriptions } from './subscriptions.ts';
import { beginRun, restingState, stateAfter } from './sync-runs.ts';

let nowMs = Date.parse('2026-01-01T00:00:00Z');
const clock: Clock = { nowMs: () => nowMs, monotonicUs: () => nowMs * 1000 };
const iso = (afterMs = 0): string => new Date(nowMs + afterMs).toISOString();
const entry = (text: string, expiresAt = ''): IpEntry => ({
  key: parseNetwork(text) ?? '',
  ...(expiresAt === '' ? {} : { expiresAt }),
});
const list = (id: string, more: Partial<IpListRecord> = {}): IpListRecord => ({
  id,
  tenantId: 'default',
  name: id,
  description: '',
  managementMode: 'manual',
  createdAt: iso(),
  updatedAt: iso(),
  ...more,
});

let store: Store;
let server: Server;
let url = '';
let body = '';

beforeAll(async () => {
  server = createServer((_request, response) => void response.end(body));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
beforeEach(async () => {
  store = await openStore(openMemoryKv(), clock);
  const values = { 'outgoing.allowed_networks': ['127.0.0.1'] };
  await store.write((tx) => {
    tx.put(systemSettings, { id: settingsId, values, updatedAt: iso() });
  });
});
afterAll(() => void server.close());

const subscription = (id: string): IpListRecord => {
  const { source } = checkSource({ url, format: 'text_v1' }, null, id, () => undefined);
  const sync = restingState({ status: 'never_synced' }, source, nowMs);
  return list(id, { managementMode: 'subscription', source, sync });
};

test('expired entries are removed, the content changes, and the audit records it', async () => {
  const entries = [entry('10.0.0.1', iso(1000)), entry('10.0.0.2', iso(9000)), entry('10.0.0.3')];
  await store.write((tx) => {
    tx.put(ipLists, list('a'));
    editEntries(tx, 'a', new Map(entries.map((one) => [one.key, one])), new Set(), iso());
  });
  const { etag } = contentOf(store, 'a');
  await removeLapsed(store, clock);
  expect(contentOf(store, 'a').etag).toBe(etag);
  nowMs += 1000;
  await removeLapsed(store, clock);
  expect([...allEntries(contentOf(store, 'a'), chunkReader(store))]).toEqual(entries.slice(1));
  expect(contentOf(store, 'a')).toMatchObject({ ipv4Count: 2, changedAt: iso() });
  const [row] = [...store.auditRows({ reverse: true })];
  expect(row).toMatchObject({ action: 'expire_entries', after: { removed: 1 } });
});

test('a held update that nobody decides on goes after a week', async () => {
  const staged = await stageContent(store, heldContentId('a'), [entry('10.0.0.1')]);
  await store.write((tx) => {
    adoptContent(tx, staged, iso());
    tx.put(ipLists, list('a', { held: { expiresAt: iso(1000) }, sync: { status: 'held' } }));
  });
  await dropGarbage(store, staged.garbageId);
  nowMs += 1001;
  await removeLapsed(store, clock);
  expect(store.get(ipLists, 'a')).toMatchObject({ sync: { status: 'healthy' } });
  expect(store.get(ipLists, 'a')).not.toHaveProperty('held');
  expect(store.list(ipListChunks)).toEqual([]);
  expect(store.list(ipListGarbage)).toEqual([]);
});

test('a crash leaves chunks and a run: both are cleared up by the next start', async () => {
  await stageContent(store, 'a', [entry('10.0.0.1')]);
  await store.write((tx) => {
    const before = subscription('a');
    tx.put(ipLists, { ...before, sync: { ...before.sync, status: 'syncing' } });
    beginRun(tx, 'a', 'schedule', nowMs);
  });
  expect(store.list(ipListChunks)).toHaveLength(1);
  const subscriptions = await startSubscriptions({ store, clock, logger: silentLogger });
  await subscriptions.close();
  expect(store.list(ipListChunks)).toEqual([]);
  expect(store.list(ipListRuns)).toMatchObject([{ status: 'failed' }]);
  expect(String(store.list(ipListRuns)[0]?.error)).toMatch(/stopped during the fetch/);
  expect(store.get(ipLists, 'a')?.sync).toMatchObject({ status: 'failed' });
});

test('two callers share one fetch; a list that is removed meanwhile stays removed', async () => {
  body = '10.0.0.1\n';
  await store.write((tx) => tx.put(ipLists, subscription('a')));
  const subscriptions = await startSubscriptions({ store, clock, logger: silentLogger });
  const both = await Promise.all([
    subscriptions.sync('a', 'manual'),
    subscriptions.sync('a', 'schedule'),
  ]);
  expect(both[0]).toBe(both[1]);
  expect(store.list(ipListRuns)).toHaveLength(1);
  const going = subscriptions.sync('a', 'manual');
  await store.write((tx) => tx.remove(ipLists, 'a'));
  await expect(going).rejects.toMatchObject({ code: 'not_found' });
  expect(store.list(ipLists)).toEqual([]);
  expect(store.list(ipListGarbage)).toEqual([]);
  await subscriptions.close();
});

test('failures are tried again sooner, ever later, and never later than the interval', () => {
  let record = subscription('a');
  const { source } = record;
  if (source === undefined) throw new Error('no source');
  const end = { status: 'failed', resultCode: 'http_error', error: 'x', httpStatus: 0 } as const;
  const waits = Array.from({ length: 7 }, () => {
    const sync = stateAfter(record, source, end, nowMs);
    record = { ...record, sync };
    return (Date.parse(sync.nextSyncAt ?? '') - nowMs) / 60_000;
  });
  expect(waits).toEqual([2, 4, 8, 16, 32, 60, 60]);
  expect(record.sync).toMatchObject({ consecutiveFailures: 7, status: 'failed' });
});
