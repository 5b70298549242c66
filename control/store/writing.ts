/** Writes records with their indexes, counts and audit rows inside one transaction. */

import { hideHeaderSecrets } from '../domain/site/header-secrets.ts';
import type { Clock } from '../../base/clock.ts';
import { auditRowId, genesisHash, hashRow, type AuditNote } from './audit-chain.ts';
import type { Collection } from './collection.ts';
import type { Identified, ReadStore, WriteStore } from './interface.ts';
import {
  auditKey,
  blobKey,
  countKey,
  indexKey,
  indexValue,
  metaKey,
  readJson,
  recordKey,
  toBytes,
} from './keys.ts';
import type { KvWriter } from './kv.ts';
import { reading } from './reading.ts';
import type { Changes, RecordCache } from './record-cache.ts';

/** What one transaction writes through. */
export interface Writing {
  readonly store: WriteStore;
  /** Writes what is gathered during the transaction; call it last. */
  settle(): void;
}

/** The writing side over `kv`; names of changed records are added to `changed`. */
export function writing(
  kv: KvWriter,
  clock: Clock,
  changed: Changes,
  cache: RecordCache | null = null,
): Writing {
  const read = reading(kv);
  const counts = new Counts(kv);
  const known = cache === null ? read : { ...read, ...readingUnchanged(kv, changed, cache) };
  const store: WriteStore = {
    ...known,
    count: (collection, index = '', value = '') =>
      read.count(collection, index, value) + counts.pending(collection.name, index, value),
    put: (collection, record) => {
      const before = read.get(collection, record.id);
      if (before === undefined) counts.add(collection.name, '', '', 1);
      kv.put(recordKey(collection.name, record.id), toBytes(record));
      changeIndexes(kv, counts, collection, before, record);
      note(changed, collection, record.id, before === undefined);
    },
    remove: (collection, id) => {
      const before = read.get(collection, id);
      if (before === undefined) return;
      counts.add(collection.name, '', '', -1);
      changeIndexes(kv, counts, collection, before, undefined);
      kv.remove(recordKey(collection.name, id));
      note(changed, collection, id, true);
    },
    putBlob: (name, bytes) => kv.put(blobKey(name), bytes),
    removeBlob: (name) => kv.remove(blobKey(name)),
    audit: (auditNote) => appendAudit(kv, read, auditNote, clock),
    next: (counter) => {
      const key = metaKey(`counter-${counter}`);
      const number = (readJson<number>(kv.get(key)) ?? 0) + 1;
      kv.put(key, toBytes(number));
      return number;
    },
  };
  return { store, settle: () => counts.write() };
}

/** Lists come from the cache as long as the transaction has not changed their collection. */
function readingUnchanged(
  kv: KvWriter,
  changed: Changes,
  cache: RecordCache,
): Pick<ReadStore, 'list' | 'find'> {
  const [fresh, cached] = [reading(kv), reading(kv, cache)];
  const of = (name: string): ReadStore => (changed.ids.has(name) ? fresh : cached);
  return {
    list: (collection) => of(collection.name).list(collection),
    find: (collection, index, value) => of(collection.name).find(collection, index, value),
  };
}

function note(
  { ids: changed, reshaped }: Changes,
  { name }: { readonly name: string },
  id: string,
  cameOrWent: boolean,
): void {
  const ids = changed.get(name);
  if (ids === undefined) changed.set(name, new Set([id]));
  else ids.add(id);
  if (cameOrWent) reshaped.add(name);
}

/** Writes and removes only the entries that differ. */
function changeIndexes<T extends Identified>(
  kv: KvWriter,
  counts: Counts,
  collection: Collection<T>,
  before: T | undefined,
  after: T | undefined,
): void {
  for (const [index, valuesOf] of Object.entries(collection.indexes)) {
    const old = new Set(before === undefined ? [] : valuesOf(before));
    const now = new Set(after === undefined ? [] : valuesOf(after));
    const counted = collection.counted?.includes(index) === true;
    const id = (after ?? before)?.id ?? '';
    for (const value of old) {
      if (now.has(value)) continue;
      kv.remove(indexKey(collection.name, index, value, id));
      if (counted) counts.add(collection.name, index, value, -1);
    }
    for (const value of now) {
      if (old.has(value)) continue;
      kv.put(indexKey(collection.name, index, value, id), indexValue);
      if (counted) counts.add(collection.name, index, value, 1);
    }
  }
}

/** Counts change once a transaction, not once a record. */
class Counts {
  private readonly changes = new Map<string, number>();
  private readonly kv: KvWriter;

  constructor(kv: KvWriter) {
    this.kv = kv;
  }

  add(collection: string, index: string, value: string, by: number): void {
    const key = countKey(collection, index, value);
    this.changes.set(key, (this.changes.get(key) ?? 0) + by);
  }

  pending(collection: string, index: string, value: string): number {
    return this.changes.get(countKey(collection, index, value)) ?? 0;
  }

  write(): void {
    for (const [key, by] of this.changes) {
      if (by === 0) continue;
      const count = (readJson<number>(this.kv.get(key)) ?? 0) + by;
      if (count <= 0) this.kv.remove(key);
      else this.kv.put(key, toBytes(count));
    }
  }
}

/** Rows can be read by many and are never changed: secrets stay out of them. */
function shownNote(note: AuditNote): AuditNote {
  const { before, after } = note;
  return {
    ...note,
    ...(before === undefined ? {} : { before: hideHeaderSecrets(before) }),
    ...(after === undefined ? {} : { after: hideHeaderSecrets(after) }),
  };
}

function appendAudit(kv: KvWriter, read: ReadStore, auditNote: AuditNote, clock: Clock): void {
  const head = read.auditHead();
  const id = auditRowId(Number(head?.id ?? '0') + 1);
  const createdAt = new Date(clock.nowMs()).toISOString();
  const content = { ...shownNote(auditNote), id, createdAt, prevHash: head?.hash ?? genesisHash };
  const row = { ...content, hash: hashRow(content) };
  kv.put(auditKey(id), toBytes(row));
  kv.put(metaKey('audit-head'), toBytes({ id, hash: row.hash }));
}
