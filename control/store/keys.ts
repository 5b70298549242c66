/** How keys of the store are built and values written. Never decides what is stored. */

import { AppError } from '../../base/errors.ts';
import { prefixRange } from './kv.ts';

/** Stands between the parts of a key. */
export const separator = '\u0000';
const decoder = new TextDecoder('utf-8', { fatal: true });
const encoder = new TextEncoder();

/** First parts of keys: records, index entries, counts, blobs, audit rows, the store's own. */
export const areas = {
  record: 'd',
  index: 'i',
  count: 'c',
  blob: 'b',
  audit: 'a',
  meta: 'm',
} as const;

/** Every key of an area. */
export function areaRange(area: keyof typeof areas): { start: string; end: string } {
  return prefixRange(`${areas[area]}${separator}`);
}

/** Key of a record; with '' for the id the beginning of all of a collection. */
export function recordKey(collection: string, id: string): string {
  if (id.includes(separator)) {
    throw new AppError('store_key', 'an id of the store holds a zero', { source: 'internal' });
  }
  return [areas.record, collection, id].join(separator);
}

/** Key of an index entry. */
export function indexKey(collection: string, index: string, value: string, id: string): string {
  return [areas.index, collection, index, indexText(value), id].join(separator);
}

/** A value as index keys hold it: what separates the parts of a key cannot stand inside one. */
export function indexText(value: string): string {
  return value.replaceAll(separator, '\ufffd');
}

/** Beginning of the keys of all entries of an index. */
export function indexPrefix(collection: string, index: string): string {
  return [areas.index, collection, index, ''].join(separator);
}

/** Key of the count of a collection, or of one value of an index. */
export function countKey(collection: string, index = '', value = ''): string {
  const parts = [areas.count, collection];
  return (index === '' ? parts : [...parts, index, indexText(value)]).join(separator);
}

/** Key of a blob. */
export function blobKey(name: string): string {
  return [areas.blob, name].join(separator);
}

/** Key of an audit row; with '' the beginning of all. */
export function auditKey(id: string): string {
  return [areas.audit, id].join(separator);
}

/** Key of something of the store's own. */
export function metaKey(name: string): string {
  return [areas.meta, name].join(separator);
}

/** What an index entry holds; only its key matters. */
export const indexValue = new Uint8Array([1]);

/** A value as it is stored. */
export function toBytes(value: unknown): Uint8Array {
  return encoder.encode(JSON.stringify(value));
}

/** A value as it was stored. Throws when the bytes are not what `toBytes` made. */
export function readJson<T>(bytes: Uint8Array | undefined): T | undefined {
  return bytes === undefined ? undefined : (JSON.parse(decoder.decode(bytes)) as T);
}
