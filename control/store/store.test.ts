/** Owns the proof of the store: drivers, indexes, the audit chain. */

import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { systemClock } from '../../engine/base/clock.ts';
import { verifyChain } from './audit-chain.ts';
import { sessions, users } from './collections.ts';
import { testKvDriver } from '../../test/support/kv-suite.ts';
import { openLmdbKv } from './lmdb-kv.ts';
import { openMemoryKv } from './memory-kv.ts';
import { openStore } from './store.ts';

const folder = (): string => mkdtempSync(join(tmpdir(), 'waf-kv-'));

testKvDriver('memory', openMemoryKv);
testKvDriver('lmdb', () => openLmdbKv({ folder: folder(), durable: true }));

const session = (id: string, userId: string) => ({
  id,
  userId,
  tokenSha256: '',
  sessionEpoch: 0,
  createdAt: '',
  expiresAt: '',
});

const note = {
  actorId: 'u',
  actorName: 'n',
  tenantId: 't',
  action: 'create',
  resourceType: 'session',
  resourceId: 's',
};

test('indexes follow their records', async () => {
  const store = await openStore(openMemoryKv(), systemClock);
  await store.write((tx) => {
    tx.put(sessions, session('s1', 'u1'));
    tx.put(sessions, session('s2', 'u2'));
  });
  expect(store.find(sessions, 'user', 'u1').map(({ id }) => id)).toEqual(['s1']);
  await store.write((tx) => tx.put(sessions, session('s1', 'u2')));
  expect(store.find(sessions, 'user', 'u1')).toEqual([]);
  expect(store.find(sessions, 'user', 'u2')).toHaveLength(2);
  await store.write((tx) => tx.remove(sessions, 's1'));
  expect(store.find(sessions, 'user', 'u2').map(({ id }) => id)).toEqual(['s2']);
});

test('listeners hear of changed collections, and only after the write', async () => {
  const store = await openStore(openMemoryKv(), systemClock);
  const heard: string[] = [];
  store.onChange((changed) => heard.push(...changed));
  await store.write((tx) => tx.put(sessions, session('s1', 'u1')));
  expect(heard).toEqual(['sessions']);
  await expect(
    store.write((tx) => {
      tx.put(sessions, session('s2', 'u1'));
      throw new Error('no');
    }),
  ).rejects.toThrow('no');
  expect(heard).toEqual(['sessions']);
  expect(store.list(users)).toEqual([]);
});

test('the audit chain verifies, and tampering is found and named', async () => {
  const store = await openStore(openMemoryKv(), systemClock);
  for (let at = 0; at < 5; at++) await store.write((tx) => tx.audit({ ...note, after: { at } }));
  const rows = [...store.auditRows()];
  const head = store.auditHead();
  expect(verifyChain(rows, head)).toMatchObject({ breaks: [], checked: 5 });
  const changed = rows.map((row, at) => (at === 2 ? { ...row, after: { at: 9 } } : row));
  expect(verifyChain(changed, head).breaks.map(({ rowId }) => rowId)).toEqual([rows[2]?.id]);
  const removed = rows.filter((_, at) => at !== 3);
  expect(verifyChain(removed, head).breaks.map(({ rowId }) => rowId)).toEqual([rows[4]?.id]);
  const cut = rows.slice(0, 4);
  expect(verifyChain(cut, head).breaks.map(({ rowId }) => rowId)).toEqual([head?.id]);
  const swapped = [rows[0], rows[2], rows[1], rows[3], rows[4]].map((row) => row!);
  expect(verifyChain(swapped, head).breaks.length).toBeGreaterThan(0);
});

test('a store from a newer version is refused', async () => {
  const kv = openMemoryKv();
  await kv.write((writer) => writer.put('m\u0000schema', new TextEncoder().encode('99')));
  await expect(openStore(kv, systemClock)).rejects.toMatchObject({ code: 'store_newer' });
});

test('a backup taken under writes opens and verifies', async () => {
  const store = await openStore(openLmdbKv({ folder: folder(), durable: true }), systemClock);
  for (let at = 0; at < 20; at++) await store.write((tx) => tx.audit({ ...note, after: { at } }));
  const target = join(folder(), 'copy');
  const copying = store.backup(target);
  for (let at = 0; at < 20; at++) await store.write((tx) => tx.audit({ ...note, after: { at } }));
  await copying;
  const copy = await openStore(openLmdbKv({ folder: target, durable: true }), systemClock);
  const { breaks, checked } = verifyChain(copy.auditRows(), copy.auditHead());
  expect(breaks).toEqual([]);
  expect(checked).toBeGreaterThanOrEqual(20);
  await copy.close();
  await store.close();
});
