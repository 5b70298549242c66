/**
 * The check of a whole store: every record decodes, indexes, counts and blobs agree with the
 * records, the audit chain is whole. Only reads.
 */

import { AppError } from '../../base/errors.ts';
import { storeLimits } from '../limits/store-limits.ts';
import { startChainCheck } from './audit-chain.ts';
import type { AnyCollection } from './collection.ts';
import type { Identified } from './interface.ts';
import {
  areaRange,
  areas,
  auditKey,
  blobKey,
  countKey,
  indexKey,
  readJson,
  recordKey,
  separator,
} from './keys.ts';
import { prefixRange, type KvReader } from './kv.ts';
import { hasCurrentIndexes, readSchema } from './migrations.ts';
import { reading } from './reading.ts';

/** Something that is wrong in a store. */
export interface StoreProblem {
  readonly kind: 'schema' | 'record' | 'index' | 'count' | 'blob' | 'audit';
  /** What it is about: a collection and id, an audit row. */
  readonly where: string;
  readonly what: string;
}

/** What a check found. A store is whole when `problemCount` is 0. */
export interface StoreReport {
  readonly schema: number;
  readonly collections: Readonly<Record<string, number>>;
  readonly blobs: number;
  readonly auditRows: number;
  /** Hash of the last audit row. */
  readonly auditHash: string;
  /** The first problems; the count has all. */
  readonly problems: readonly StoreProblem[];
  readonly problemCount: number;
  /** What is odd but harms nothing. */
  readonly notes: readonly string[];
}

/** Checks a store. Cost: reads all of it once, and one look-up an index entry. */
export function verifyStore(kv: KvReader, collections: readonly AnyCollection[]): StoreReport {
  const problems: StoreProblem[] = [];
  let problemCount = 0;
  const report: Report = (kind, where, what) => {
    problemCount++;
    if (problems.length < storeLimits.problemsMax) problems.push({ kind, where, what });
  };
  const schema = verifySchema(kv, report);
  const counts: Record<string, number> = {};
  const usedBlobs = new Set<string>();
  for (const collection of collections) {
    const count = verifyCollection(kv, collection, usedBlobs, report);
    if (count > 0) counts[collection.name] = count;
  }
  const blobs = [...kv.range({ ...areaRange('blob'), keysOnly: true })].length;
  const audit = verifyAudit(kv, report);
  const notes = unknownCollections(kv, collections);
  const old = collections.filter((one) => !hasCurrentIndexes(kv, one)).length;
  if (old > 0) {
    notes.push(
      `${old} collections are from another version: their indexes are made at the next start`,
    );
  }
  return { schema, collections: counts, blobs, ...audit, problems, problemCount, notes };
}

type Report = (kind: StoreProblem['kind'], where: string, what: string) => void;

function verifySchema(kv: KvReader, report: Report): number {
  try {
    const schema = readSchema(kv);
    if (schema === null) report('schema', 'store', 'it is empty');
    return schema ?? 0;
  } catch (error) {
    // A newer store is no damaged one: nothing below could be judged.
    if (error instanceof AppError && error.code === 'store_damaged') {
      report('schema', 'store', error.message);
      return 0;
    }
    throw error;
  }
}

/** Checks the records of one collection with their indexes. Returns how many there are. */
function verifyCollection(
  kv: KvReader,
  collection: AnyCollection,
  usedBlobs: Set<string>,
  report: Report,
): number {
  const { name } = collection;
  const current = hasCurrentIndexes(kv, collection);
  const prefix = recordKey(name, '');
  const expected = new Map<string, number>();
  const expect = (key: string): void => void expected.set(key, (expected.get(key) ?? 0) + 1);
  let entries = 0;
  let count = 0;
  for (const { key, value } of kv.range(prefixRange(prefix))) {
    count++;
    const id = key.slice(prefix.length);
    const record = readRecord(value, id);
    if (typeof record === 'string') {
      report('record', `${name} ${id}`, record);
      continue;
    }
    if (current) entries += verifyEntries(kv, collection, record, expect, report);
    for (const blob of blobsOf(collection, record)) {
      if (usedBlobs.has(blob)) continue;
      usedBlobs.add(blob);
      if (kv.get(blobKey(blob)) === undefined) {
        report('blob', `${name} ${id}`, `needs the blob ${blob}, which is not there`);
      }
    }
  }
  if (count > 0) expected.set(countKey(name), count);
  if (!current) return count;
  verifyEntryCount(kv, name, entries, report);
  verifyCounts(kv, name, expected, report);
  return count;
}

/** A record as it was stored, or why it is none. */
function readRecord(value: Uint8Array, id: string): Identified | string {
  try {
    const record = readJson<Identified>(value);
    if (typeof record !== 'object' || record === null) return 'is no record';
    return record.id === id ? record : 'carries the id of another record';
  } catch {
    return 'cannot be decoded';
  }
}

/** Every value of a record has its index entry. Returns how many entries there should be. */
function verifyEntries(
  kv: KvReader,
  { name, indexes, counted = [] }: AnyCollection,
  record: Identified,
  expect: (countKeyOfValue: string) => void,
  report: Report,
): number {
  let entries = 0;
  for (const [index, valuesOf] of Object.entries(indexes)) {
    const values = safely(() => valuesOf(record as never));
    if (values === null) {
      report('record', `${name} ${record.id}`, `lacks what the index ${index} is made of`);
      continue;
    }
    for (const value of new Set(values)) {
      entries++;
      if (counted.includes(index)) expect(countKey(name, index, value));
      if (kv.get(indexKey(name, index, value, record.id)) !== undefined) continue;
      report('index', `${name} ${record.id}`, `is missing in the index ${index}`);
    }
  }
  return entries;
}

function blobsOf(collection: AnyCollection, record: Identified): readonly string[] {
  return safely(() => collection.blobs?.(record as never) ?? []) ?? [];
}

/** A damaged record may lack any field. */
function safely<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}

/** Where every expected entry is there, a surplus is an entry that no record accounts for. */
function verifyEntryCount(kv: KvReader, name: string, expected: number, report: Report): void {
  let found = 0;
  const range = prefixRange([areas.index, name, ''].join(separator));
  for (const _ of kv.range({ ...range, keysOnly: true })) found++;
  if (found <= expected) return;
  report('index', name, `${found - expected} index entries belong to no record`);
}

function verifyCounts(
  kv: KvReader,
  name: string,
  expected: ReadonlyMap<string, number>,
  report: Report,
): void {
  const found = new Map<string, number>();
  const total = countKey(name);
  const own = kv.get(total);
  if (own !== undefined) found.set(total, readCount(own));
  for (const { key, value } of kv.range(prefixRange(total + separator))) {
    found.set(key, readCount(value));
  }
  for (const key of new Set([...expected.keys(), ...found.keys()])) {
    if ((expected.get(key) ?? 0) === (found.get(key) ?? 0)) continue;
    const of = key.slice(total.length + 1).replaceAll(separator, ' ');
    const have = `${found.get(key) ?? 0} counted, ${expected.get(key) ?? 0} there`;
    report('count', of === '' ? name : `${name} ${of}`, have);
  }
}

function readCount(bytes: Uint8Array): number {
  return safely(() => readJson<number>(bytes)) ?? Number.NaN;
}

function verifyAudit(kv: KvReader, report: Report): { auditRows: number; auditHash: string } {
  const check = startChainCheck();
  const store = reading(kv);
  for (const row of store.auditRows()) check.add(row);
  const { breaks, checked, lastHash } = check.finish(safely(() => store.auditHead()) ?? null);
  for (const { rowId, actualRowHash } of breaks) {
    const there = kv.get(auditKey(rowId)) !== undefined;
    const what = there || actualRowHash !== '' ? 'was changed or is out of place' : 'was removed';
    report('audit', `row ${rowId}`, what);
  }
  return { auditRows: checked, auditHash: lastHash };
}

function unknownCollections(kv: KvReader, collections: readonly AnyCollection[]): string[] {
  const known = new Set(collections.map(({ name }) => name));
  const unknown = new Map<string, number>();
  for (const { key } of kv.range({ ...areaRange('record'), keysOnly: true })) {
    const name = key.split(separator, 2)[1] ?? '';
    if (!known.has(name)) unknown.set(name, (unknown.get(name) ?? 0) + 1);
  }
  return [...unknown].map(
    ([name, count]) => `${count} records of ${name}, which is not known here`,
  );
}
