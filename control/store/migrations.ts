/**
 * The way of a store from every earlier layout to the present one: forward only, each step in one
 * transaction with its version, so that after a kill between two the next opening continues.
 */

import { AppError } from '../../base/errors.ts';
import type { AnyCollection } from './collection.ts';
import {
  areaRange,
  areas,
  countKey,
  indexKey,
  indexValue,
  metaKey,
  readJson,
  recordKey,
  separator,
  toBytes,
} from './keys.ts';
import { prefixRange, type Kv, type KvReader, type KvWriter } from './kv.ts';

/** Version of the layout; a store from a newer one is refused. */
export const schemaVersion = 2;

interface Migration {
  /** The version that the step leads to. */
  readonly to: number;
  readonly change: (writer: KvWriter) => void;
}

/** In order, without gaps, from version 1 on. */
const migrations: readonly Migration[] = [{ to: 2, change: countRecords }];

/** Brings a store to the present layout. Errors: AppError store_newer, store_damaged. */
export async function migrate(kv: Kv, collections: readonly AnyCollection[]): Promise<void> {
  const found = readSchema(kv);
  if (found === null) {
    await kv.write((writer) => {
      writer.put(metaKey('schema'), toBytes(schemaVersion));
      for (const one of collections) noteIndexes(writer, one);
    });
    return;
  }
  for (const { to, change } of migrations) {
    if (to <= found) continue;
    await kv.write((writer) => {
      change(writer);
      writer.put(metaKey('schema'), toBytes(to));
    });
  }
  for (const one of collections) {
    if (hasCurrentIndexes(kv, one)) continue;
    await kv.write((writer) => {
      rebuildIndexes(writer, one);
      noteIndexes(writer, one);
    });
  }
}

/** Layout of a store; null for an empty one. Errors: AppError store_newer, store_damaged. */
export function readSchema(kv: KvReader): number | null {
  const bytes = kv.get(metaKey('schema'));
  if (bytes === undefined) {
    if ([...kv.range({ ...areaRange('record'), limit: 1, keysOnly: true })].length === 0)
      return null;
    throw damaged('its layout version is missing');
  }
  let found: unknown;
  try {
    found = readJson(bytes);
  } catch {
    found = undefined;
  }
  if (typeof found !== 'number' || !Number.isInteger(found) || found < 1) {
    throw damaged('its layout version cannot be read');
  }
  if (found <= schemaVersion) return found;
  throw new AppError(
    'store_newer',
    `the store has layout ${found}, this version reads up to ${schemaVersion}: use a newer version`,
    { source: 'storage' },
  );
}

/** Whether a key says which layout a store has. */
export function isLayoutKey(key: string): boolean {
  return key === metaKey('schema') || key.startsWith(indexesKey(''));
}

/** Why a store that others may have changed is not for this version; '' when it is. */
export function layoutProblem(kv: KvReader, collections: readonly AnyCollection[]): string {
  const found = readJson<number>(kv.get(metaKey('schema')));
  if (found !== undefined && found !== schemaVersion) return `layout ${found}`;
  const other = collections.find(
    (one) => kv.get(indexesKey(one.name)) !== undefined && !hasCurrentIndexes(kv, one),
  );
  return other === undefined ? '' : `other indexes of ${other.name}`;
}

function damaged(why: string): AppError {
  const message = `the store is damaged: ${why}; restore a backup with waf admin restore`;
  return new AppError('store_damaged', message, { source: 'storage' });
}

/** Version 2 counts records as they come and go. */
function countRecords(writer: KvWriter): void {
  const counts = new Map<string, number>();
  for (const { key } of writer.range({ ...areaRange('record'), keysOnly: true })) {
    const name = key.split(separator, 2)[1] ?? '';
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  for (const [name, count] of counts) writer.put(countKey(name), toBytes(count));
}

/** Whether a store's indexes of a collection are the ones that this version keeps. */
export function hasCurrentIndexes(kv: KvReader, collection: AnyCollection): boolean {
  return readJson(kv.get(indexesKey(collection.name))) === indexNames(collection);
}

function indexesKey(name: string): string {
  return metaKey(`indexes-${name}`);
}

function noteIndexes(writer: KvWriter, collection: AnyCollection): void {
  writer.put(indexesKey(collection.name), toBytes(indexNames(collection)));
}

function indexNames({ indexes, counted = [] }: AnyCollection): string {
  const names = Object.keys(indexes).map((name) => (counted.includes(name) ? `${name}#` : name));
  return names.sort((left, right) => (left < right ? -1 : 1)).join(' ');
}

/** Builds every index of a collection anew, with its counts. Cost: every record of it. */
function rebuildIndexes(writer: KvWriter, collection: AnyCollection): void {
  const { name } = collection;
  const old = [areas.index, areas.count].map((area) => [area, name, ''].join(separator));
  for (const prefix of old) {
    const keys = [...writer.range({ ...prefixRange(prefix), keysOnly: true })];
    for (const { key } of keys) writer.remove(key);
  }
  const counts = new Map<string, number>();
  const builders = Object.entries(collection.indexes);
  const records = builders.length === 0 ? [] : writer.range(prefixRange(recordKey(name, '')));
  for (const { key, value } of [...records]) {
    const id = key.slice(recordKey(name, '').length);
    const record = readJson(value) as never;
    for (const [index, valuesOf] of builders) {
      for (const one of new Set(valuesOf(record))) {
        writer.put(indexKey(name, index, one, id), indexValue);
        if (collection.counted?.includes(index) !== true) continue;
        const count = countKey(name, index, one);
        counts.set(count, (counts.get(count) ?? 0) + 1);
      }
    }
  }
  for (const [key, count] of counts) writer.put(key, toBytes(count));
}
