/** The embedded storage driver: one LMDB environment. The only file of control that loads lmdb. */

import { chmodSync, existsSync, mkdirSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { open, type RangeOptions, type RootDatabase, type Transaction } from 'lmdb';
import { AppError } from '../../base/errors.ts';
import { storeLimits } from '../limits/store-limits.ts';
import { lmdbFileProblem } from '../../base/lmdb-file.ts';
import { Draft, readThrough } from './draft.ts';
import type { Kv, KvEntry, KvRange, KvReader, KvSnapshot, KvWriter } from './kv.ts';
import { CommitLock, openBeside } from './opening-lock.ts';

/** Where the environment lies and how safe its writes are. */
export interface LmdbOptions {
  /** Folder of the environment; made when missing. */
  readonly folder: string;
  /** True: a write is on disk when it resolves. False: it survives the process, not the machine. */
  readonly durable: boolean;
  /** Only reads, also beside the process that writes; the environment must be there. */
  readonly readOnly?: boolean;
  /**
   * False: the system reads the pages that are asked for and no others. For stores that are larger
   * than memory and read here and there; default true.
   */
  readonly readsAhead?: boolean;
}

/** Opens the environment. Errors: AppError store_unavailable. */
export function openLmdbKv(options: LmdbOptions): Kv {
  const { folder, readOnly = false } = options;
  const db = openEnvironment(options);
  const lock = readOnly ? null : new CommitLock(folder);
  let closed = false;
  const checkOpen = (): void => {
    // The library would end the process a turn later, out of a timer of its own.
    if (closed) throw new AppError('store_closed', 'the store is closed', { source: 'storage' });
  };
  const committed = whileOpen(makeReader(db), checkOpen);
  const commits = new Commits(db, folder, lock);
  const reader = readThrough(commits.pending, committed);
  return {
    ...reader,
    write: async (change) => {
      checkOpen();
      const draft = new Draft();
      const result = change(writerOf(draft, reader));
      if (draft.size > 0) await commits.add(draft);
      return result;
    },
    stage: () => {
      const draft = new Draft();
      const keep = async (): Promise<void> => {
        checkOpen();
        if (draft.size > 0) await commits.add(draft);
      };
      return { writer: writerOf(draft, reader), keep };
    },
    snapshot: () => {
      checkOpen();
      return openSnapshot(db);
    },
    close: async () => {
      await commits.settled();
      closed = true;
      await db.close();
      lock?.close();
    },
  };
}

function writerOf(draft: Draft, reader: KvReader): KvWriter {
  return {
    ...readThrough(draft, reader),
    put: (key, value) => draft.set(checked(key), value),
    remove: (key) => draft.set(checked(key), null),
  };
}

/** Transactions that go to the disk together. */
interface Group {
  readonly changes: Draft;
  readonly done: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (error: AppError) => void;
}

/**
 * Brings transactions to the disk in their order, in the library's own thread: waiting for the disk
 * is most of what a write costs. What waits is seen by every reader here. One group at a time is
 * under way; those that come meanwhile are the next. When one fails, the next one fails too:
 * it was made from what is not there.
 */
class Commits {
  /** What the disk does not have yet. */
  readonly pending = new Draft();
  private readonly db: Database;
  private readonly folder: string;
  private readonly lock: CommitLock | null;
  private running: Group | null = null;
  private next: Group | null = null;

  constructor(db: Database, folder: string, lock: CommitLock | null) {
    this.db = db;
    this.folder = folder;
    this.lock = lock;
  }

  /** Resolves when the disk has it. Errors: AppError store_full, store_failed. */
  add(draft: Draft): Promise<void> {
    const group = (this.next ??= newGroup());
    for (const [key, value] of draft.entries()) {
      group.changes.set(key, value);
      this.pending.set(key, value);
    }
    if (this.running === null) void this.run();
    return group.done;
  }

  /** Resolves when nothing waits any more, whatever became of it. */
  async settled(): Promise<void> {
    while (this.running !== null) await this.running.done.catch(() => undefined);
  }

  private async run(): Promise<void> {
    for (let group = this.take(); group !== null; group = this.take()) {
      try {
        await this.commit(group.changes);
        this.forget(group.changes);
        group.resolve();
      } catch (error) {
        this.fail(group, await storageError(error, this.folder));
      }
    }
  }

  private take(): Group | null {
    this.running = this.next;
    this.next = null;
    return this.running;
  }

  private async commit(changes: Draft): Promise<void> {
    await this.lock?.take();
    try {
      // The library runs this when its thread has begun a transaction, and commits there.
      await this.db.transaction(() => {
        for (const [key, value] of changes.entries()) {
          const name = encodeKey(key);
          if (value === null) this.db.removeSync(name);
          else this.db.putSync(name, asBuffer(value));
        }
      });
    } finally {
      this.lock?.free();
    }
  }

  private fail(group: Group, error: AppError): void {
    const following = this.next;
    this.next = null;
    this.pending.clear();
    group.reject(error);
    following?.reject(error);
  }

  /** Values that were not set anew meanwhile are the storage's now. */
  private forget(changes: Draft): void {
    if (this.next === null) return this.pending.clear();
    for (const [key] of changes.entries()) {
      if (this.next.changes.get(key) === undefined) this.pending.delete(key);
    }
  }
}

function newGroup(): Group {
  let resolve = (): void => undefined;
  let reject: Group['reject'] = () => undefined;
  const done = new Promise<void>((fulfil, refuse) => {
    resolve = fulfil;
    reject = refuse;
  });
  // Whoever wrote hears of it; nobody else has to.
  done.catch(() => undefined);
  return { changes: new Draft(), done, resolve, reject };
}

type Database = RootDatabase<Buffer, Buffer>;

function openEnvironment(options: LmdbOptions): Database {
  const { folder, durable, readOnly = false, readsAhead = true } = options;
  if (readOnly) requireFile(folder);
  else requireOwnFile(folder);
  try {
    if (!readOnly) mkdirSync(folder, { recursive: true, mode: 0o700 });
    const settings = {
      path: folder,
      noSubdir: false,
      keyEncoding: 'binary' as const,
      encoding: 'binary' as const,
      overlappingSync: !durable,
      readOnly,
      // The library's types do not know it.
      noReadAhead: !readsAhead,
      maxReaders: 64,
      mapSize: storeLimits.storeMapBytes,
      // What it adds to a transaction has a promise of its own, which nobody could catch.
      eventTurnBatching: false,
    };
    if (readOnly) {
      return openBeside(folder, () => {
        requireOwnFile(folder);
        return open<Buffer, Buffer>(settings);
      });
    }
    const database = open<Buffer, Buffer>(settings);
    keepPrivate(folder);
    return database;
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new AppError('store_unavailable', `the store in ${folder} cannot be opened`, {
      source: 'storage',
      cause: error,
    });
  }
}

/** Errors: AppError store_missing. */
function requireFile(folder: string): void {
  if (sizeOf(folder) > 0) return;
  const message = `there is no store in ${folder}; see --data`;
  throw new AppError('store_missing', message, { source: 'config' });
}

/** Refuses what would end the process. Errors: AppError store_unavailable, store_damaged. */
function requireOwnFile(folder: string): void {
  let problem: string | null;
  try {
    problem = sizeOf(folder) === 0 ? null : lmdbFileProblem(join(folder, 'data.mdb'));
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

function sizeOf(folder: string): number {
  return statSync(join(folder, 'data.mdb'), { throwIfNoEntry: false })?.size ?? 0;
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
  const get = (key: string): Uint8Array | undefined => db.get(encodeKey(key), within);
  return {
    get,
    peek: transaction === undefined ? (key) => peekAt(db, key) : get,
    range: (range) => rangeOf(db, range, within),
  };
}

/** A reader that throws once the store is closed. Errors: AppError store_closed. */
function whileOpen(reader: KvReader, checkOpen: () => void): KvReader {
  return {
    get: (key) => {
      checkOpen();
      return reader.get(key);
    },
    peek: (key) => {
      checkOpen();
      return reader.peek(key);
    },
    range: (range) => {
      checkOpen();
      return reader.range(range);
    },
  };
}

/** The library reads into one buffer, longer than the value, which it uses again. */
function peekAt(db: Database, key: string): Uint8Array | undefined {
  const found = db.getBinaryFast(encodeKey(key));
  return found && new Uint8Array(found.buffer, found.byteOffset, found.length);
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
  return Buffer.from(key, 'utf8');
}

/** Errors: AppError store_key. */
function checked(key: string): string {
  if (Buffer.byteLength(key, 'utf8') <= storeLimits.storeKeyBytesMax) return key;
  throw new AppError('store_key', 'a key of the store is too long', { source: 'internal' });
}

function asBuffer(value: Uint8Array): Buffer {
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
}

async function storageError(thrown: unknown, folder: string): Promise<AppError> {
  // The library says why a commit failed in a promise of its own, which rejects.
  const { commitError } = thrown as { readonly commitError?: Promise<unknown> };
  const error = await Promise.resolve(commitError ?? thrown).catch((cause: unknown) => cause);
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
    return bavail * bsize < storeLimits.diskFreeBytesMin;
  } catch {
    // It cannot even be asked; the error at hand says more.
    return false;
  }
}
