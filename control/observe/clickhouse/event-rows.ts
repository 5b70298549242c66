/** Events of a batch as rows of their table. Pure. */

import { createHash } from 'node:crypto';
import { makeEventId, timeOfEventId } from '../events/event-id.ts';
import type { Entry } from '../events/entry.ts';
import type { EventKind, EventLane, EventTerms, StoredEvent } from '../events/event-kind.ts';
import type { IncomingBatch } from '../events/event-log.ts';
import { eventKinds, type KindName } from '../events/event-questions.ts';
import { eventOfEntry, termsOfEntry } from '../events/read-entry.ts';
import { addressBytes } from './address-bytes.ts';
import { fieldColumns, hasClient, kindOfLane, searchedColumns } from './event-tables.ts';
import type { ColumnType } from './event-tables.ts';
import type { RowWriter } from './row-binary.ts';

const numbersMax = 10 ** 12;
const none = new Uint8Array();

/** The kind of a lane, whichever events it has. */
export function kindOf(name: KindName): EventKind<StoredEvent> {
  return eventKinds[name].kind as EventKind<StoredEvent>;
}

/**
 * The entries under the ids that they have whenever the batch comes: their numbers begin at a hash
 * of what names the batch, so that a batch that comes twice makes equal rows.
 */
export function withStableIds(
  lane: EventLane,
  { agentId, bootId, batchSeq }: IncomingBatch,
  entries: readonly Entry[],
): Entry[] {
  const name = [lane, agentId, bootId, batchSeq].join('\u0000');
  const first = createHash('sha256').update(name).digest().readUIntBE(0, 6);
  return entries.map((entry, place) => ({
    ...entry,
    id: makeEventId(timeOfEventId(entry.id), (first + place) % numbersMax),
  }));
}

/** Writes the rows of a batch; entries that cannot be read have none. Returns how many. */
export function writeRows(
  writer: RowWriter,
  lane: EventLane,
  batch: IncomingBatch,
  entries: readonly Entry[],
): number {
  const name = kindOfLane(lane);
  const kind = kindOf(name);
  let rows = 0;
  for (const [place, entry] of entries.entries()) {
    const terms = termsOfEntry(kind, entry);
    if (terms === null) continue;
    writeCommon(writer, lane, batch, entry, place);
    writeContent(writer, kind, entry);
    writeFields(writer, name, terms, entry);
    rows++;
  }
  return rows;
}

function writeCommon(
  writer: RowWriter,
  lane: EventLane,
  { agentId, tenantId, bootId, batchSeq }: IncomingBatch,
  { id, form }: Entry,
  place: number,
): void {
  writer.text(lane);
  writer.uint64(timeOfEventId(id));
  writer.uint64(Number(id.slice(id.indexOf('-') + 1)));
  writer.text(agentId);
  writer.text(bootId);
  writer.uint64(batchSeq);
  writer.uint32(place);
  writer.text(tenantId);
  writer.uint8(form);
}

/** The event without details, and whole where that is more. */
function writeContent(writer: RowWriter, kind: EventKind<StoredEvent>, entry: Entry): void {
  const compact = kind.withoutDetails?.(entry).bytes ?? entry.bytes;
  const same = compact === entry.bytes || Buffer.compare(compact, entry.bytes) === 0;
  writer.bytes(compact);
  writer.bytes(same ? none : entry.bytes);
}

function writeFields(writer: RowWriter, name: KindName, terms: EventTerms, entry: Entry): void {
  if (hasClient(name)) writer.fixed(addressBytes(terms['client']?.[0] ?? ''));
  for (const [field, type] of Object.entries(fieldColumns[name])) {
    writeValues(writer, type, terms[field] ?? []);
  }
  const searched = searchedColumns[name];
  if (searched.length === 0) return;
  const event = eventOfEntry(kindOf(name), entry) as Readonly<Record<string, unknown>> | null;
  for (const property of searched) {
    const value = event?.[property];
    writer.text(typeof value === 'string' ? value.toLowerCase() : '');
  }
}

function writeValues(writer: RowWriter, type: ColumnType, values: readonly string[]): void {
  if (type === 'String') return writer.text(values[0] ?? '');
  if (type === 'UInt16') return writer.uint16(Number(values[0] ?? 0) & 0xffff);
  writer.length(values.length);
  for (const value of values) {
    if (type === 'Array(String)') writer.text(value);
    else writer.uint32(Number(value) >>> 0);
  }
}
