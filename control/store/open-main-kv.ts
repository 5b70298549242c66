/** Opens the storage of control: embedded, or a copy of a store that several controllers share. */

import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from 'pg';
import { AppError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { sharedStoreLimits } from '../limits/store-limits.ts';
import { collections } from './collection-list.ts';
import { mainStore } from './data-files.ts';
import type { Kv } from './kv.ts';
import { openLmdbKv } from './lmdb-kv.ts';
import { layoutProblem } from './migrations.ts';
import { connectPostgres, unreachable } from './shared/postgres-connection.ts';
import { openPostgresLog } from './shared/postgres-log.ts';
import { replicaOf } from './shared/replica.ts';
import { openSharedKv } from './shared/shared-kv.ts';
import { makeStoreKey, readStoreKey, storeKeyFile } from './shared/store-key.ts';
import type { StoreAddress } from './shared/store-option.ts';
import type { Controllers } from './shared/write-log.ts';

/** Where the store of control is. */
export interface MainKvOptions {
  readonly dataFolder: string;
  /** The shared store; null for the embedded one. */
  readonly address: StoreAddress | null;
  /** File of the shared store's key; default: in the data folder. */
  readonly keyFile?: string | undefined;
  readonly logger: Logger;
}

/** The storage of control. */
export interface MainKv {
  readonly kv: Kv;
  /** Whether this controller is to do what must be done once; null for one that is alone. */
  readonly holdsDuties: (() => boolean) | null;
  /** Those that share the store; null for one that is alone. */
  readonly controllers: Controllers | null;
  /** What is made at a first start is there: other controllers may start. */
  readonly started: () => Promise<void>;
}

/**
 * Opens it. Starts of controllers that share a store follow one another, until `started`. Errors:
 * AppError of the drivers, store_embedded, store_shared.
 */
export async function openMainKv(options: MainKvOptions): Promise<MainKv> {
  const { dataFolder, address, logger } = options;
  const folder = join(dataFolder, mainStore);
  if (address === null) {
    const kv = openLmdbKv({ folder, durable: true });
    if (replicaOf(kv) === null)
      return { kv, holdsDuties: null, controllers: null, started: async () => undefined };
    await kv.close();
    throw new AppError(
      'store_shared',
      `the data folder ${dataFolder} has a copy of a shared store: start with the same --store, ` +
        'or make an embedded one of it with waf admin backup and waf admin restore',
      { source: 'config' },
    );
  }
  const keyFile = options.keyFile ?? join(dataFolder, storeKeyFile);
  const keys = { read: () => readStoreKey(keyFile), make: () => makeStoreKey(keyFile) };
  const started = await takeStart(address);
  const opened: { close(): Promise<void> }[] = [{ close: started }];
  try {
    const log = await openPostgresLog(address, keys);
    opened.push(log);
    // What a crash of the machine takes from the copy comes again from the log.
    const local = openLmdbKv({ folder, durable: false });
    opened.push(local);
    const kv = await openSharedKv({
      ...{ local, log, logger },
      layoutProblem: (reader) => layoutProblem(reader, collections),
    });
    return { kv, holdsDuties: () => log.holdsDuties(), controllers: log.controllers, started };
  } catch (error) {
    for (const one of opened) await one.close();
    throw error;
  }
}

/** Any number of ours. */
const startLock = 7_206_402;

/**
 * Resolves when no other controller starts, with what lets the next one. Errors: AppError
 * store_away.
 */
async function takeStart(address: StoreAddress): Promise<() => Promise<void>> {
  const client = await connectPostgres(address);
  try {
    await waitForStart(client);
  } catch (error) {
    client.connection.stream.destroy();
    throw error instanceof AppError ? error : unreachable(error);
  }
  // The lock goes with the connection.
  return () => client.end();
}

async function waitForStart(client: Client): Promise<void> {
  const deadline = performance.now() + sharedStoreLimits.startWaitMs;
  for (;;) {
    const { rows } = await client.query<{ taken: boolean }>(
      `SELECT pg_try_advisory_lock(${startLock}) AS taken`,
    );
    if (rows[0]?.taken === true) return;
    if (performance.now() > deadline) {
      const message = 'another controller of the shared store does not finish its start';
      throw new AppError('store_away', message, { source: 'storage' });
    }
    await delay(sharedStoreLimits.retryMs);
  }
}
