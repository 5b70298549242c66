/**
 * How often each entry of an IP list decided, and when last: one row an entry, in bounded number;
 * one more a list for what no entry has. Never decides itself which entry holds an address.
 */

import type { CounterDelta } from '../../proto/gen/waf/runtime/v1/observation_pb.ts';
import type { ListEntryPlace } from '../domain/access/ip-list.ts';
import { observationLimits } from '../limits/observation-limits.ts';
import { prefixRange, type KvReader, type KvWriter } from '../store/kv.ts';
import { separator } from './step-keys.ts';

/** Family of these counts among what nodes send; a key is a binding, a space and an address. */
export const listHitFamily = 'list_hit';

/** The count of one entry. */
export interface ListEntryHits {
  readonly hits: number;
  readonly lastMs: number;
}

/** The entry by which a binding decided about an address; null for a binding that is gone. */
export type FindListEntry = (bindingId: string, address: string) => ListEntryPlace | null;

/** Opens the entries of a tenant as they are at a time. */
export type ListEntriesOf = (tenantId: string, atMs: number) => FindListEntry;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * Adds what a node counted. What the bound leaves no row for, and what no entry holds any more,
 * counts for the list. Cost: where there are new rows, one reading of the keys of the tenant.
 */
export function addListEntryHits(
  writer: KvWriter,
  entriesOf: ListEntriesOf,
  tenantId: string,
  atMs: number,
  deltas: readonly CounterDelta[],
): void {
  let find: FindListEntry | null = null;
  let added = false;
  for (const { entries } of deltas) {
    for (const { family, key, count } of entries) {
      if (family !== listHitFamily) continue;
      find ??= entriesOf(tenantId, atMs);
      const [bindingId = '', address = ''] = key.split(' ');
      const place = find(bindingId, address);
      if (place === null) continue;
      const isNew = addTo(writer, tenantId, place, { hits: Number(count), lastMs: atMs });
      added ||= isNew;
    }
  }
  if (added) makeRoom(writer, tenantId);
}

/** The count of an entry, of what has no entry for the key ''; null where nothing is known. */
export function readListEntryHits(
  reader: KvReader,
  tenantId: string,
  place: ListEntryPlace,
): ListEntryHits | null {
  const bytes = reader.get(rowKey(tenantId, place));
  return bytes === undefined ? null : parse(bytes);
}

/** True for a row that was not there. */
function addTo(
  writer: KvWriter,
  tenantId: string,
  place: ListEntryPlace,
  more: ListEntryHits,
): boolean {
  const known = readListEntryHits(writer, tenantId, place);
  const { hits = 0, lastMs = 0 } = known ?? {};
  const row = { hits: hits + more.hits, lastMs: Math.max(lastMs, more.lastMs) };
  writer.put(rowKey(tenantId, place), encoder.encode(JSON.stringify(row)));
  return known === null;
}

/** An eighth of the rows, those that decided nothing for longest, become counts of their lists. */
function makeRoom(writer: KvWriter, tenantId: string): void {
  const max = observationLimits.countedListEntriesMax;
  const range = prefixRange([rowFamily, tenantId, ''].join(separator));
  const count = [...writer.range({ ...range, keysOnly: true })].length;
  if (count <= max) return;
  const rows = [...writer.range(range)].map(({ key, value }) => ({ key, ...parse(value) }));
  rows.sort((one, other) => one.lastMs - other.lastMs);
  for (const { key, hits, lastMs } of rows.slice(0, count - Math.floor((max * 7) / 8))) {
    writer.remove(key);
    const [, , listId = '', entryKey = ''] = key.split(separator);
    // What is known of a list alone goes for good: nothing of it decided for longest.
    if (entryKey !== '') addTo(writer, tenantId, { listId, entryKey: '' }, { hits, lastMs });
  }
}

function parse(bytes: Uint8Array): ListEntryHits {
  return JSON.parse(decoder.decode(bytes)) as ListEntryHits;
}

const rowFamily = 'le';

function rowKey(tenantId: string, { listId, entryKey }: ListEntryPlace): string {
  return [rowFamily, tenantId, listId, entryKey].join(separator);
}
