/**
 * Owns the embedded storage driver: one LMDB environment. The only file of control that loads lmdb.
 */

import { chmodSync, existsSync, mkdirSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { open, type RangeOptions, type RootDatabase, type Transaction } from 'lmdb';
import { AppError } from '../../engine/base/errors.ts';
import { controlLimits } from '../../engine/base/limits.ts';
import { lmdbFileProblem } from '../../engine/base/lmdb-file.ts';
import type { Kv, KvEntry, KvRange, KvReader, KvSnapshot, KvWriter } from './kv.ts';

/** Where the environment lies and how safe its writes are. */
export interface LmdbOptions {
  /** Folder of the environment; made when missing. */
  readonly folder: string;
  /** True: a write is on disk when it resolves. False: it survives the process, not the machine. */
  readonly durable: boolean;
  /** Only reads, also beside the process that writes; the environment must be there. */
  readonly readOnly?: boolean;
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
    snapshot: () => openSnapshot(db),
    close: () => db.close(),
  };
}

type Database = RootDatabase<Buffer, Buffer>;

function openEnvironment({ folder, durable, readOnly = false }: LmdbOptions): Database {
  requireOwnFile(folder, readOnly);
  try {
    if (!readOnly) mkdirSync(folder, { recursive: true, mode: 0o700 });
    const database = open<Buffer, Buffer>({
      path: folder,
      noSubdir: false,
      keyEncoding: 'binary',
      encoding: 'binary',
      overlappingSync: !durable,
      readOnly,
      maxReaders: 64,
    });
    if (!readOnly) keepPrivate(folder);
    return database;
  } catch (error) {
    throw new AppError('store_unavailable', `the store in ${folder} cannot be opened`, {
      source: 'storage',
      cause: error,
    });
  }
}

/** Refuses what the library would not survive. Errors: AppError store_missing, store_damaged. */
function requireOwnFile(folder: string, readOnly: boolean): void {
  const file = join(folder, 'data.mdb');
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (readOnly && size === 0) {
    const message = `there is no store in ${folder}; see --data`;
    throw new AppError('store_missing', message, { source: 'config' });
  }
  let problem: string | null;
  try {
    problem = size === 0 ? null : lmdbFileProblem(file);
  } catch (cause) {
    const message = `the store in ${folder} cannot be read`;
    throw new AppError('store_unavailable', message, { source: 'storage', cause });
  }
  if (problem === null) return;
  throw new AppError(
    'store_damaged',
    `the store in ${folder} is damaged: ${problem}; restore a backup with waf admin restore`,
    { source: 'storage' },
  );
}

/** The store holds keys and credentials: nobody else reads its files, wherever they lie. */
function keepPrivate(folder: string): void {
  for (const name of ['data.mdb', 'lock.mdb']) {
    const path = join(folder, name);
    if (existsSync(path)) chmodSync(path, 0o600);
  }
}

function makeReader(db: Database, transaction?: Transaction): KvReader {
  const within = transaction === undefined ? {} : { transaction };
  return {
    get: (key) => db.get(encodeKey(key), within),
    range: (range) => rangeOf(db, range, within),
  };
}

function openSnapshot(db: Database): KvSnapshot {
  const transaction = db.useReadTransaction();
  let open = true;
  return {
    ...makeReader(db, transaction),
    close: () => {
      if (open) transaction.done();
      open = false;
    },
  };
}

function* rangeOf(
  db: Database,
  range: KvRange,
  within: { readonly transaction?: Transaction },
): Generator<KvEntry> {
  const start = encodeKey(range.start);
  const end = encodeKey(range.end);
  const limit = range.limit ?? Number.POSITIVE_INFINITY;
  if (limit <= 0 || Buffer.compare(start, end) >= 0) return;
  const bounds = range.reverse
    ? { start: end, end: start, reverse: true, exclusiveStart: true }
    : { start, end };
  const options = { ...bounds, ...within, ...(Number.isFinite(limit) ? { limit } : {}) };
  let given = 0;
  for (const entry of entriesOf(db, options, range.keysOnly === true)) {
    given++;
    yield entry;
  }
  if (range.reverse !== true || given >= limit) return;
  // A reverse range leaves out its end, which is the first key of ours.
  const value = db.get(start, within);
  if (value !== undefined) yield { key: range.start, value };
}

function* entriesOf(db: Database, options: RangeOptions, keysOnly: boolean): Generator<KvEntry> {
  if (keysOnly) {
    for (const key of db.getKeys(options)) yield { key: key.toString('utf8'), value: noValue };
    return;
  }
  for (const { key, value } of db.getRange(options)) yield { key: key.toString('utf8'), value };
}

const noValue = new Uint8Array();

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
