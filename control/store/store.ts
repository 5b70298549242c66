/**
 * Owns records over a storage driver: collections, indexes, blobs, the audit chain and the schema
 * version. One write is one transaction with its audit row. Never decides what a record may hold.
 */

import { AppError } from '../../engine/base/errors.ts';
import type { Clock } from '../../engine/base/clock.ts';
import { genesisHash, hashRow, type AuditNote, type AuditRow } from './audit-chain.ts';
import type { Collection } from './collections.ts';
import { prefixRange, type Kv, type KvReader, type KvWriter } from './kv.ts';

/** Version of the layout; a store from a newer one is refused. */
export const schemaVersion = 1;

interface Identified {
  readonly id: string;
}

/** Reading records. */
export interface ReadStore {
  get<T extends Identified>(collection: Collection<T>, id: string): T | undefined;
  /** All records, by id. */
  list<T extends Identified>(collection: Collection<T>): T[];
  /** Records with `value` under an index, by id. */
  find<T extends Identified>(collection: Collection<T>, index: string, value: string): T[];
  blob(name: string): Uint8Array | undefined;
  /** Audit rows, newest first or oldest first. */
  auditRows(options?: { readonly reverse?: boolean; readonly after?: string }): Iterable<AuditRow>;
  auditRow(id: string): AuditRow | undefined;
  auditHead(): { readonly id: string; readonly hash: string } | null;
}

/** Reading and writing inside one transaction. */
export interface WriteStore extends ReadStore {
  put<T extends Identified>(collection: Collection<T>, record: T): void;
  remove<T extends Identified>(collection: Collection<T>, id: string): void;
  putBlob(name: string, bytes: Uint8Array): void;
  removeBlob(name: string): void;
  audit(note: AuditNote): void;
  /** The next number of a counter, from 1. */
  next(counter: string): number;
}

/** The store of control. */
export interface Store extends ReadStore {
  /** One transaction; listeners hear of it after it is on disk. */
  write<T>(change: (store: WriteStore) => T): Promise<T>;
  /** Calls `listener` with the names of changed collections after every write; returns the undo. */
  onChange(listener: (changed: ReadonlySet<string>) => void): () => void;
  backup(folder: string): Promise<void>;
  close(): Promise<void>;
}

const separator = '\u0000';
const decoder = new TextDecoder();
const encoder = new TextEncoder();

/** Opens the store. Errors: AppError store_newer. */
export async function openStore(kv: Kv, clock: Clock): Promise<Store> {
  await settleSchema(kv);
  const listeners = new Set<(changed: ReadonlySet<string>) => void>();
  return {
    ...reading(kv),
    write: async (change) => {
      const changed = new Set<string>();
      const result = await kv.write((writer) => change(writing(writer, clock, changed)));
      if (changed.size > 0) for (const listener of listeners) listener(changed);
      return result;
    },
    onChange: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    backup: (folder) => kv.backup(folder),
    close: () => kv.close(),
  };
}

async function settleSchema(kv: Kv): Promise<void> {
  const found = readJson<number>(kv.get(metaKey('schema')));
  if (found === undefined) {
    await kv.write((writer) => writer.put(metaKey('schema'), toBytes(schemaVersion)));
    return;
  }
  if (found <= schemaVersion) return;
  throw new AppError(
    'store_newer',
    `the store has layout ${found}, this version reads up to ${schemaVersion}: use a newer version`,
    { source: 'storage' },
  );
}

function reading(kv: KvReader): ReadStore {
  return {
    get: (collection, id) => readJson(kv.get(recordKey(collection.name, id))),
    list: <T extends Identified>(collection: Collection<T>) =>
      [...kv.range(prefixRange(recordKey(collection.name, '')))].map(
        ({ value }) => readJson<T>(value) as T,
      ),
    find: <T extends Identified>(collection: Collection<T>, index: string, value: string) => {
      const prefix = indexKey(collection.name, index, value, '');
      const found: T[] = [];
      for (const { key } of [...kv.range(prefixRange(prefix))]) {
        const record = kv.get(recordKey(collection.name, key.slice(prefix.length)));
        if (record !== undefined) found.push(readJson<T>(record) as T);
      }
      return found;
    },
    blob: (name) => kv.get(`b${separator}${name}`),
    auditRows: ({ reverse = false, after = '' } = {}) => auditRange(kv, reverse, after),
    auditRow: (id) => readJson(kv.get(auditKey(id))),
    auditHead: () => readJson(kv.get(metaKey('audit-head'))) ?? null,
  };
}

function* auditRange(kv: KvReader, reverse: boolean, after: string): Generator<AuditRow> {
  const all = prefixRange(auditKey(''));
  const start = !reverse && after !== '' ? `${auditKey(after)}\u0001` : all.start;
  const end = reverse && after !== '' ? auditKey(after) : all.end;
  for (const { value } of kv.range({ start, end, reverse })) yield readJson<AuditRow>(value)!;
}

function writing(kv: KvWriter, clock: Clock, changed: Set<string>): WriteStore {
  const read = reading(kv);
  const dropIndexes = <T extends Identified>(collection: Collection<T>, record: T): void => {
    for (const [index, valuesOf] of Object.entries(collection.indexes)) {
      for (const value of valuesOf(record)) {
        kv.remove(indexKey(collection.name, index, value, record.id));
      }
    }
  };
  return {
    ...read,
    put: (collection, record) => {
      const before = read.get(collection, record.id);
      if (before !== undefined) dropIndexes(collection, before);
      kv.put(recordKey(collection.name, record.id), toBytes(record));
      for (const [index, valuesOf] of Object.entries(collection.indexes)) {
        for (const value of valuesOf(record)) {
          kv.put(indexKey(collection.name, index, value, record.id), emptyValue);
        }
      }
      changed.add(collection.name);
    },
    remove: (collection, id) => {
      const before = read.get(collection, id);
      if (before === undefined) return;
      dropIndexes(collection, before);
      kv.remove(recordKey(collection.name, id));
      changed.add(collection.name);
    },
    putBlob: (name, bytes) => kv.put(`b${separator}${name}`, bytes),
    removeBlob: (name) => kv.remove(`b${separator}${name}`),
    audit: (note) => appendAudit(kv, read, note, clock),
    next: (counter) => {
      const number = (readJson<number>(kv.get(metaKey(`counter-${counter}`))) ?? 0) + 1;
      kv.put(metaKey(`counter-${counter}`), toBytes(number));
      return number;
    },
  };
}

function appendAudit(kv: KvWriter, read: ReadStore, note: AuditNote, clock: Clock): void {
  const head = read.auditHead();
  const id = String(Number(head?.id ?? '0') + 1).padStart(16, '0');
  const createdAt = new Date(clock.nowMs()).toISOString();
  const content = { ...note, id, createdAt, prevHash: head?.hash ?? genesisHash };
  const row = { ...content, hash: hashRow(content) };
  kv.put(auditKey(id), toBytes(row));
  kv.put(metaKey('audit-head'), toBytes({ id, hash: row.hash }));
}

const emptyValue = new Uint8Array([1]);

function recordKey(collection: string, id: string): string {
  return `d${separator}${collection}${separator}${id}`;
}

function indexKey(collection: string, index: string, value: string, id: string): string {
  return ['i', collection, index, value, id].join(separator);
}

function auditKey(id: string): string {
  return `a${separator}${id}`;
}

function metaKey(name: string): string {
  return `m${separator}${name}`;
}

function toBytes(value: unknown): Uint8Array {
  return encoder.encode(JSON.stringify(value));
}

function readJson<T>(bytes: Uint8Array | undefined): T | undefined {
  return bytes === undefined ? undefined : (JSON.parse(decoder.decode(bytes)) as T);
}
