/** Stores of several controllers over one PostgreSQL, and what must hold of all of them. */

import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import type { AppError } from '../../base/errors.ts';
import { createLogger } from '../../base/log.ts';
import { startChainCheck } from '../../control/store/audit-chain.ts';
import { collections } from '../../control/store/collection-list.ts';
import { sessions, type SessionRecord } from '../../control/store/collections.ts';
import type { Kv } from '../../control/store/kv.ts';
import { openLmdbKv } from '../../control/store/lmdb-kv.ts';
import { layoutProblem } from '../../control/store/migrations.ts';
import { openPostgresLog } from '../../control/store/shared/postgres-log.ts';
import { replicaKey } from '../../control/store/shared/replica.ts';
import { openSharedKv } from '../../control/store/shared/shared-kv.ts';
import { makeStoreKey, readStoreKey } from '../../control/store/shared/store-key.ts';
import { readStoreAddress } from '../../control/store/shared/store-option.ts';
import { openStore, type Store } from '../../control/store/store.ts';
import { verifyStore } from '../../control/store/verify.ts';
import { eventually } from './eventually.ts';

const logger = createLogger('test', 'error');

/** The store of one controller. */
export interface Controller {
  readonly kv: Kv;
  readonly store: Store;
}

/** Opens a store over a shared one; in a new folder unless one is named. */
export async function openController(
  url: string,
  keyFile: string,
  folder = '',
): Promise<Controller> {
  const at = folder === '' ? mkdtempSync(join(tmpdir(), 'waf-shared-')) : folder;
  const keys = { read: () => readStoreKey(keyFile), make: () => makeStoreKey(keyFile) };
  const log = await openPostgresLog(readStoreAddress(url, 'the test')!, keys);
  const local = openLmdbKv({ folder: at, durable: false });
  const kv = await openSharedKv({
    ...{ local, log, logger },
    layoutProblem: (reader) => layoutProblem(reader, collections),
  });
  return { kv, store: await openStore(kv, systemClock) };
}

/** Where the key of a store will be. */
export const newKeyFile = (): string => join(mkdtempSync(join(tmpdir(), 'waf-key-')), 'store-key');

/** A record with two fields of its own. */
export const session = (id: string, userId: string): SessionRecord => ({
  ...{ id, userId, tokenSha256: '', sessionEpoch: 0, createdAt: '', expiresAt: '' },
});

/** Counts up one record and adds another; every write of every controller meets in the first. */
export function countUp(store: Store, id: string): Promise<number> {
  return store.write((tx) => {
    const before = tx.get(sessions, 'sum');
    const sum = (before?.sessionEpoch ?? 0) + 1;
    tx.put(sessions, { ...session('sum', 'sum'), sessionEpoch: sum });
    tx.put(sessions, { ...session(id, 'one'), sessionEpoch: sum });
    tx.audit({
      ...{ actorId: 'a', actorName: 'a', tenantId: 't', action: 'count' },
      ...{ resourceType: 'session', resourceId: id },
    });
    return sum;
  });
}

/** Null for a write that PostgreSQL was away for. */
export function notWhileAway(error: unknown): null {
  if ((error as AppError).code === 'store_away') return null;
  throw error;
}

/** Everything under every key but what a copy knows of itself. */
export function contentOf(kv: Kv): [string, string][] {
  return Array.from(kv.range({ start: '\u0001', end: '\uffff' }))
    .filter(({ key }) => key !== replicaKey)
    .map(({ key, value }) => [key, Buffer.from(value).toString('latin1')]);
}

/** All have the same content, `sum` writes of `countUp`, and one whole audit chain. */
export async function expectSame(controllers: readonly Controller[], sum: number): Promise<void> {
  for (const { store } of controllers) {
    await eventually(() => store.get(sessions, 'sum')?.sessionEpoch === sum);
  }
  const contents = controllers.map(({ kv }) => contentOf(kv));
  expect(contents[1]).toEqual(contents[0]);
  for (const { kv, store } of controllers) {
    expect(verifyStore(kv, collections).problems).toEqual([]);
    const check = startChainCheck();
    for (const row of store.auditRows()) check.add(row);
    expect(check.finish(store.auditHead())).toMatchObject({ breaks: [], checked: sum });
    expect(store.count(sessions)).toBe(sum + 1);
  }
}
