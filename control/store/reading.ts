/** Reads records, indexes and audit rows from a driver. Never writes. */

import { readAuditRow, type AuditRow } from './audit-chain.ts';
import type { Collection } from './collection.ts';
import type { Identified, IndexRange, ReadStore, RecordRange } from './interface.ts';
import {
  auditKey,
  blobKey,
  countKey,
  indexKey,
  indexPrefix,
  indexText,
  metaKey,
  readJson,
  recordKey,
  separator,
} from './keys.ts';
import { prefixRange, type KvRange, type KvReader } from './kv.ts';
import type { RecordCache } from './record-cache.ts';

/** The reading side over `kv`; records are looked for in `cache` first where there is one. */
export function reading(kv: KvReader, cache: RecordCache | null = null): ReadStore {
  const get = <T extends Identified>(
    { name, cached }: Collection<T>,
    id: string,
  ): T | undefined => {
    const known = cache?.get(name, id);
    if (known !== undefined) return known as T;
    const bytes = kv.get(recordKey(name, id));
    const record = readJson<T>(bytes);
    if (record === undefined || cache === null || cached === false) return record;
    return cache.keep(name, record, bytes?.length ?? 0);
  };
  const walkIndex = function* <T extends Identified>(
    collection: Collection<T>,
    index: string,
    range: IndexRange = {},
  ): Generator<T> {
    for (const { key } of kv.range(indexRange(collection.name, index, range))) {
      const record = get(collection, key.slice(key.lastIndexOf(separator) + 1));
      if (record !== undefined) yield record;
    }
  };
  return {
    get,
    list: (collection) => listAll(kv, cache, collection, get),
    find: (collection, index, value) => [...walkIndex(collection, index, { value })],
    walk: function* <T extends Identified>(collection: Collection<T>, range: RecordRange = {}) {
      for (const { value } of kv.range(recordRange(collection.name, range))) {
        yield readJson<T>(value) as T;
      }
    },
    walkIndex,
    count: (collection, index = '', value = '') => {
      if (index !== '' && collection.counted?.includes(index) !== true) {
        throw new Error(`the index ${index} of ${collection.name} is not counted`);
      }
      return readJson<number>(kv.get(countKey(collection.name, index, value))) ?? 0;
    },
    blob: (name) => kv.get(blobKey(name)),
    auditRows: ({ reverse = false, after = '' } = {}) => auditRange(kv, reverse, after),
    auditRow: (id) => {
      const bytes = kv.get(auditKey(id));
      return bytes === undefined ? undefined : readAuditRow(id, bytes);
    },
    auditHead: () => readJson(kv.get(metaKey('audit-head'))) ?? null,
  };
}

function listAll<T extends Identified>(
  kv: KvReader,
  cache: RecordCache | null,
  collection: Collection<T>,
  get: (collection: Collection<T>, id: string) => T | undefined,
): T[] {
  const prefix = recordKey(collection.name, '');
  const known = cache?.ids(collection.name) ?? null;
  // Ids alone: most records are known already.
  const ids =
    known ??
    Array.from(kv.range({ ...prefixRange(prefix), keysOnly: true }), ({ key }) =>
      key.slice(prefix.length),
    );
  const all = ids.map((id) => get(collection, id)).filter((record) => record !== undefined);
  if (known === null) cache?.keepIds(collection.name, ids);
  return all;
}

function recordRange(name: string, range: RecordRange): KvRange {
  const inside = prefixRange(recordKey(name, range.prefix ?? ''));
  const after = range.after === undefined ? '' : keyAfter(recordKey(name, range.after));
  const before = range.before === undefined ? inside.end : recordKey(name, range.before);
  return {
    start: later(after, inside.start),
    end: earlier(before, inside.end),
    ...wayOf(range),
  };
}

function indexRange(name: string, index: string, range: IndexRange): KvRange {
  const { value, valuePrefix = '', after } = range;
  const prefix =
    value === undefined
      ? indexPrefix(name, index) + indexText(valuePrefix)
      : indexKey(name, index, value, '');
  const inside = prefixRange(prefix);
  if (after === undefined) return { ...inside, ...wayOf(range) };
  const key = indexKey(name, index, after.value, after.id);
  return range.reverse === true
    ? { start: inside.start, end: earlier(key, inside.end), ...wayOf(range) }
    : { start: later(keyAfter(key), inside.start), end: inside.end, ...wayOf(range) };
}

function wayOf(range: { readonly reverse?: boolean; readonly limit?: number }): {
  reverse: boolean;
  limit?: number;
} {
  const { reverse = false, limit } = range;
  return limit === undefined ? { reverse } : { reverse, limit };
}

/** The first key after another: nothing sorts between a text and itself with a zero. */
function keyAfter(key: string): string {
  return `${key}\u0000`;
}

function later(left: string, right: string): string {
  return Buffer.compare(Buffer.from(left), Buffer.from(right)) >= 0 ? left : right;
}

function earlier(left: string, right: string): string {
  return Buffer.compare(Buffer.from(left), Buffer.from(right)) <= 0 ? left : right;
}

function* auditRange(kv: KvReader, reverse: boolean, after: string): Generator<AuditRow> {
  const all = prefixRange(auditKey(''));
  const start = !reverse && after !== '' ? keyAfter(auditKey(after)) : all.start;
  const end = reverse && after !== '' ? auditKey(after) : all.end;
  for (const { key, value } of kv.range({ start, end, reverse })) {
    yield readAuditRow(key.slice(auditKey('').length), value);
  }
}
