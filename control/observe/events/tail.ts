/**
 * The newest batches of a lane as they came, a row each, until a segment holds their events. Index
 * values of their events are read once, for questions and for the segment.
 */

import { prefixRange, type KvReader } from '../../store/kv.ts';
import { splitBatch, entryForm, readNumberField, type Entry } from './entry.ts';
import { makeEventId, numberText } from './event-id.ts';
import type { EventKind, EventLane, EventTerms, StoredEvent } from './event-kind.ts';
import { termsOfEntry } from './read-entry.ts';

const separator = '\u0000';
const encoder = new TextEncoder();
const decoder = new TextDecoder();
const headBytes = 4;

/** A batch in the tail. */
export interface TailRow {
  readonly key: string;
  readonly entries: readonly Entry[];
  readonly bytes: number;
  /** Index values of the first entries, as far as `indexRow` came; null for a damaged one. */
  readonly terms: (EventTerms | null)[];
}

/** Events that are indexed before the caller of the generator may pause: some 0.1 ms. */
const indexedTogether = 8;

/**
 * Reads the index values of a row that are not read yet. Several callers may take turns: each step
 * continues where the last one ended. Cost: about 10 us an event.
 */
export function* indexRow<E extends StoredEvent>(
  kind: EventKind<E>,
  { entries, terms }: TailRow,
): Generator<null> {
  while (terms.length < entries.length) {
    const end = Math.min(entries.length, terms.length + indexedTogether);
    for (const entry of entries.slice(terms.length, end)) terms.push(termsOfEntry(kind, entry));
    yield null;
  }
}

/** Whose batch it is, and the arrival number before its first fact. */
export interface TailHead {
  readonly agentId: string;
  readonly tenantId: string;
  readonly number: number;
}

/** The key of a row; rows sort by arrival. */
export function tailKey(lane: EventLane, number: number): string {
  return `evt${separator}${lane}${separator}${numberText(number)}`;
}

/** A batch as a row's value: the length of its head, the head, the payload as it came. */
export function packTailRow(head: TailHead, payload: Uint8Array): Uint8Array {
  const text = encoder.encode(JSON.stringify(head));
  const length = Buffer.alloc(headBytes);
  length.writeUInt32LE(text.length);
  return Buffer.concat([length, text, payload]);
}

/** The entries of a batch; facts whose time cannot be read are left out. Null: damaged. */
export function entriesOf(
  { agentId, tenantId, number }: TailHead,
  payload: Uint8Array,
  timeField: number,
): Entry[] | null {
  const facts = splitBatch(payload);
  if (facts === null) return null;
  const form = entryForm.fact;
  try {
    return facts.map((bytes, at) => {
      const id = makeEventId(readNumberField(bytes, timeField), number + at + 1);
      return { id, agentId, tenantId, form, bytes };
    });
  } catch {
    // A fact ends in the middle of a field.
    return null;
  }
}

/** Rows of a lane that are read again only when they changed. */
export class TailCache {
  private readonly lane: EventLane;
  private readonly timeField: number;
  private rows = new Map<string, TailRow>();

  constructor(lane: EventLane, timeField: number) {
    this.lane = lane;
    this.timeField = timeField;
  }

  /** Takes a row that was just written, so that it is not read back; returns the one it keeps. */
  add(row: TailRow): TailRow {
    const known = this.rows.get(row.key);
    if (known === undefined) this.rows.set(row.key, row);
    return known ?? row;
  }

  /** The rows that `reader` has now, the oldest first. */
  read(reader: KvReader): readonly TailRow[] {
    const range = prefixRange(`evt${separator}${this.lane}${separator}`);
    const rows = new Map<string, TailRow>();
    for (const { key } of reader.range({ ...range, keysOnly: true })) {
      const row = this.rows.get(key) ?? this.load(reader, key);
      if (row !== null) rows.set(key, row);
    }
    this.rows = rows;
    return [...rows.values()];
  }

  private load(reader: KvReader, key: string): TailRow | null {
    const value = reader.get(key);
    if (value === undefined) return null;
    const length = Buffer.from(value.buffer, value.byteOffset, headBytes).readUInt32LE();
    const payload = value.subarray(headBytes + length);
    const text = decoder.decode(value.subarray(headBytes, headBytes + length));
    const entries = entriesOf(JSON.parse(text) as TailHead, payload, this.timeField);
    return entries === null ? null : { key, entries, bytes: value.length, terms: [] };
  }
}
