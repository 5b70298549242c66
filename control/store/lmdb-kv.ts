/**
 * Owns the embedded storage driver: one LMDB environment. The only file of control that loads lmdb.
 */

import { mkdirSync, statfsSync } from 'node:fs';
import { open, type RootDatabase } from 'lmdb';
import { AppError } from '../../engine/base/errors.ts';
import { controlLimits } from '../../engine/base/limits.ts';
import type { Kv, KvEntry, KvRange, KvReader, KvWriter } from './kv.ts';

/** Where the environment lies and how safe its writes are. */
export interface LmdbOptions {
  /** Folder of the environment; made when missing. */
  readonly folder: string;
  /** True: a write is on disk when it resolves. False: it survives the process, not the machine. */
  readonly durable: boolean;
}

/** Opens the environment. Errors: AppError store_unavailable. */
export function openLmdbKv(options: LmdbOptions): Kv {
  const db = openEnvironment(options);
  const reader = makeReader(db);
  const writer: KvWriter = {
    ...reader,
    put: (key, value) => void db.putSync(encodeKey(key), asBuffer(value)),
    remove: (key) => void db.removeSync(encodeKey(key)),
  };
  return {
    ...reader,
    write: async (change) => {
      let thrown: { readonly error: unknown } | null = null;
      try {
        return db.transactionSync(() => {
          try {
            return change(writer);
          } catch (error) {
            thrown = { error };
            throw error;
          }
        });
      } catch (error) {
        if (thrown !== null) throw (thrown as { error: unknown }).error;
        throw storageError(error, options.folder);
      }
    },
    backup: async (folder) => {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      await db.backup(folder, true);
    },
    close: () => db.close(),
  };
}

function openEnvironment({ folder, durable }: LmdbOptions): RootDatabase<Buffer, Buffer> {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return open<Buffer, Buffer>({
      path: folder,
      noSubdir: false,
      keyEncoding: 'binary',
      encoding: 'binary',
      overlappingSync: !durable,
      maxReaders: 64,
    });
  } catch (error) {
    throw new AppError('store_unavailable', `the store in ${folder} cannot be opened`, {
      source: 'storage',
      cause: error,
    });
  }
}

function makeReader(db: RootDatabase<Buffer, Buffer>): KvReader {
  return {
    get: (key) => db.getBinary(encodeKey(key)),
    range: (range) => rangeOf(db, range),
  };
}

function* rangeOf(db: RootDatabase<Buffer, Buffer>, range: KvRange): Generator<KvEntry> {
  const start = encodeKey(range.start);
  const end = encodeKey(range.end);
  const limit = range.limit === undefined ? {} : { limit: range.limit };
  const found = range.reverse
    ? db.getRange({ start: end, end: start, reverse: true, exclusiveStart: true, ...limit })
    : db.getRange({ start, end, ...limit });
  let first: KvEntry | null = null;
  for (const { key, value } of found) yield { key: key.toString('utf8'), value };
  if (!range.reverse) return;
  // A reverse range leaves out its end, which is the first key of ours.
  const value = db.getBinary(start);
  if (value !== undefined) first = { key: range.start, value };
  if (first !== null) yield first;
}

function encodeKey(key: string): Buffer {
  const bytes = Buffer.from(key, 'utf8');
  if (bytes.length <= controlLimits.storeKeyBytesMax) return bytes;
  throw new AppError('store_key', 'a key of the store is too long', { source: 'internal' });
}

function asBuffer(value: Uint8Array): Buffer {
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
}

function storageError(error: unknown, folder: string): AppError {
  const message = error instanceof Error ? error.message : '';
  const full = /MDB_MAP_FULL|ENOSPC|No space left|MDB_PAGE_FULL/.test(message);
  // A short write is an input/output error to LMDB: only the disk says that it is full.
  if (full || isDiskFull(folder)) {
    return new AppError('store_full', 'the disk is full: nothing was written', {
      source: 'storage',
      retryable: true,
      cause: error,
    });
  }
  return new AppError('store_failed', 'the store could not be written', {
    source: 'storage',
    retryable: true,
    cause: error,
  });
}

function isDiskFull(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize < controlLimits.diskFreeBytesMin;
  } catch {
    // It cannot even be asked; the error at hand says more.
    return false;
  }
}
