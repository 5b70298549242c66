/**
 * Keeps the events of one lane: takes each batch once, however often it comes, seals the tail into
 * segments in slices, and removes the oldest when there are too many or they are too old.
 */

import { crc32c } from '../../../base/crc32c.ts';
import { observationLimits } from '../../limits/observation-limits.ts';
import type { Kv, KvReader, KvWriter } from '../../store/kv.ts';
import { paced } from '../paced.ts';
import type { Entry } from './entry.ts';
import { makeEventId, timeOfEventId } from './event-id.ts';
import type { EventKind, EventLane, EventTerms, StoredEvent } from './event-kind.ts';
import { termsOfEntry } from './read-entry.ts';
import {
  atWholeHours,
  firstUntouchedMs,
  mayBeTooOld,
  oldestKeptMs,
  retentionText,
  rewriteSegment,
  type LaneRetention,
} from './retention.ts';
import { forgetLists, oldestSegment, segmentsFrom, type SegmentInfo } from './segment-list.ts';
import {
  buildSegment,
  putSegment,
  removeSegment,
  SegmentReader,
  type SegmentDraft,
} from './segment.ts';
import { entriesOf, indexRow, packTailRow, tailKey, TailCache, type TailRow } from './tail.ts';

/** A batch as it came from a node. */
export interface IncomingBatch {
  readonly agentId: string;
  readonly tenantId: string;
  /** Names one run of the node, hex. */
  readonly bootId: string;
  readonly batchSeq: bigint;
  readonly crc32c: number;
  readonly payload: Uint8Array;
}

/** What became of a batch. */
export type IngestResult = 'stored' | 'repeated' | 'crc' | 'schema';

/** How much of a lane is kept. */
export interface LaneUse {
  readonly events: number;
  readonly bytes: number;
}

const separator = '\u0000';
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Events of one lane. Only one a lane and process writes. */
export class EventLog<E extends StoredEvent> {
  readonly lane: EventLane;
  readonly kind: EventKind<E>;
  readonly reader: KvReader;
  private readonly kv: Kv;
  private readonly tails: TailCache;
  private sealing: Promise<void> | null = null;
  /** Rows that came and are to be indexed, and whether that is under way. */
  private readonly unindexed: TailRow[] = [];
  private indexing: Promise<void> | null = null;
  /** The retention that was carried out last. */
  private forgotten = '';
  /** What waits in the tail; null until it was looked at. */
  private waiting: { events: number; bytes: number; rows: number } | null = null;

  constructor(kv: Kv, lane: EventLane, kind: EventKind<E>) {
    this.kv = kv;
    this.reader = kv;
    this.lane = lane;
    this.kind = kind;
    this.tails = new TailCache(lane, kind.timeField);
  }

  /**
   * Keeps the events of a batch; `take` is given them. Rejects when the disk does not take them.
   */
  async ingest(
    batch: IncomingBatch,
    schemaVersion: number,
    take?: (entries: readonly Entry[]) => void,
  ): Promise<IngestResult> {
    if (schemaVersion !== this.kind.schemaVersion) return 'schema';
    const { agentId, tenantId, payload } = batch;
    if (crc32c(payload) !== batch.crc32c) return 'crc';
    let entries: readonly Entry[] = [];
    const written: TailRow[] = [];
    const result = await this.kv.write((writer) => {
      const number = readNumber(writer, numberKey);
      const head = { agentId, tenantId, number };
      const read = entriesOf(head, payload, this.kind.timeField);
      if (read === null) return 'schema';
      if (!firstTime(writer, this.lane, batch)) return 'repeated';
      entries = read;
      if (entries.length === 0) return 'stored';
      const row = packTailRow(head, payload);
      const key = tailKey(this.lane, number);
      writer.put(key, row);
      written.push({ key, entries, bytes: row.length, terms: [] });
      putNumber(writer, numberKey, number + entries.length);
      this.addUse(writer, entries.length, row.length);
      return 'stored';
    });
    if (result !== 'stored') return result;
    take?.(entries);
    this.index(written.map((row) => this.tails.add(row)));
    this.sealWhenFull(entries.length, payload.length);
    return result;
  }

  /** Batches whose events are in no segment yet, the oldest first. */
  tail(): readonly TailRow[] {
    return this.tails.read(this.kv);
  }

  /** Indexes the tail that an earlier process left. */
  indexTail(): void {
    this.index(this.tail());
  }

  use(): LaneUse {
    return readUse(this.kv, this.lane);
  }

  /** Waits until nothing is being indexed or sealed. */
  async settled(): Promise<void> {
    while (this.indexing !== null) await this.indexing;
    while (this.sealing !== null) await this.sealing;
  }

  /** Questions and the segment need the index: read in slices as the rows come. */
  private index(rows: readonly TailRow[]): void {
    this.unindexed.push(...rows);
    this.indexing ??= this.indexRows().finally(() => (this.indexing = null));
  }

  private async indexRows(): Promise<void> {
    const { kind, unindexed } = this;
    const steps = function* (): Generator<null> {
      for (let row = unindexed.shift(); row !== undefined; row = unindexed.shift()) {
        yield* indexRow(kind, row);
      }
    };
    for await (const _ of paced(steps())) continue;
  }

  /**
   * Removes the events that are too old, each by the days of its site, and the details of those
   * that only keep their facts; then the oldest segments past the bounds.
   */
  async forget(wanted: LaneRetention, eventsMax: number, bytesMax: number): Promise<void> {
    const retention = atWholeHours(wanted);
    await this.removeOldest(oldestKeptMs(retention), eventsMax, bytesMax);
    const text = retentionText(retention);
    if (text === this.forgotten) return;
    const untouchedMs = firstUntouchedMs(retention);
    const waiting = this.tail().flatMap(({ entries }) => entries);
    if (waiting.some(({ id }) => timeOfEventId(id) < untouchedMs)) await this.seal();
    const aged = [...segmentsFrom(this.kv, this.lane, '')].filter((one) =>
      mayBeTooOld(one, retention),
    );
    for (const info of aged) await this.rewrite(info, retention);
    this.forgotten = text;
  }

  private async rewrite(info: SegmentInfo, retention: LaneRetention): Promise<void> {
    const segment = new SegmentReader(this.kv, this.lane, info);
    const next = rewriteSegment(this.kind, segment, retention);
    if (next === null) return;
    const draft = await this.build(next.entries);
    await this.change((writer) => {
      removeSegment(writer, this.lane, info);
      this.addUse(writer, -info.count, -info.bytes);
      if (draft === null) return;
      const rewritten = { ...draft.info, stripped: next.stripped };
      putSegment(writer, this.lane, { ...draft, info: rewritten });
      this.addUse(writer, draft.info.count, draft.info.bytes);
    });
  }

  private async removeOldest(
    beforeMs: number,
    eventsMax: number,
    bytesMax: number,
  ): Promise<number> {
    let removed = 0;
    for (;;) {
      const gone = await this.change((writer) => {
        const oldest = oldestSegment(writer, this.lane);
        if (oldest === null) return 0;
        const { events, bytes } = readUse(writer, this.lane);
        const old = oldest.maxId < makeEventId(beforeMs, 0);
        if (!old && events <= eventsMax && bytes <= bytesMax) return 0;
        removeSegment(writer, this.lane, oldest);
        this.addUse(writer, -oldest.count, -oldest.bytes);
        return oldest.count;
      });
      if (gone === 0) return removed;
      removed += gone;
    }
  }

  /** Adds entries that lie elsewhere as a segment of their own; `change` takes them away there. */
  async adopt(entries: readonly Entry[], change: (writer: KvWriter) => void): Promise<void> {
    const draft = await this.build(entries);
    await this.change((writer) => {
      if (draft !== null) {
        putSegment(writer, this.lane, draft);
        this.addUse(writer, draft.info.count, draft.info.bytes);
      }
      change(writer);
    });
  }

  /** Seals the tail now, however small. */
  async seal(): Promise<void> {
    await this.settled();
    const rows = this.tails.read(this.kv);
    if (rows.length === 0) return;
    this.sealing = this.sealRows(rows).finally(() => (this.sealing = null));
    await this.sealing;
  }

  private sealWhenFull(addedEvents: number, addedBytes: number): void {
    if (this.waiting === null) this.waiting = this.measureTail();
    else {
      this.waiting.events += addedEvents;
      this.waiting.bytes += addedBytes;
      this.waiting.rows++;
    }
    const { events, bytes, rows } = this.waiting;
    const { segmentEventsMin, segmentBytesMin, tailRowsMax } = observationLimits;
    const full = events >= segmentEventsMin || bytes >= segmentBytesMin || rows >= tailRowsMax;
    if (!full || this.sealing !== null) return;
    const sealing = this.sealRows(this.tails.read(this.kv))
      // The rows are still there: the next batch tries again.
      .catch(() => undefined)
      .finally(() => (this.sealing = null));
    this.sealing = sealing;
  }

  private async sealRows(rows: readonly TailRow[]): Promise<void> {
    const bytes = rows.reduce((sum, row) => sum + row.bytes, 0);
    const entries = rows.flatMap((row) => row.entries);
    const { kind } = this;
    const indexed = function* (): Generator<null> {
      for (const row of rows) yield* indexRow(kind, row);
    };
    for await (const _ of paced(indexed())) continue;
    const known = new Map(
      rows.flatMap((row) => row.terms.map((terms, at) => [row.entries[at], terms] as const)),
    );
    const draft = await this.build(entries, known);
    await this.change((writer) => {
      for (const { key } of rows) writer.remove(key);
      this.addUse(writer, (draft?.info.count ?? 0) - entries.length, -bytes);
      if (draft === null) return;
      putSegment(writer, this.lane, draft);
      this.addUse(writer, 0, draft.info.bytes);
    });
    this.waiting = this.measureTail();
  }

  private measureTail(): { events: number; bytes: number; rows: number } {
    const rows = this.tails.read(this.kv);
    const events = rows.reduce((sum, row) => sum + row.entries.length, 0);
    return { events, bytes: rows.reduce((sum, row) => sum + row.bytes, 0), rows: rows.length };
  }

  private async build(
    entries: readonly Entry[],
    known?: ReadonlyMap<Entry | undefined, EventTerms | null>,
  ): Promise<SegmentDraft | null> {
    const sorted = isSorted(entries)
      ? entries
      : entries.toSorted((left, right) => (left.id < right.id ? -1 : 1));
    const building = buildSegment(this.kind, sorted, (entry) => {
      const terms = known?.get(entry);
      return terms === undefined ? termsOfEntry(this.kind, entry) : terms;
    });
    let draft: SegmentDraft | null = null;
    const steps = function* (): Generator<null> {
      draft = yield* building;
    };
    for await (const _ of paced(steps())) continue;
    return draft;
  }

  /** A change of segments. Rejects as `write` does. */
  private async change<T>(change: (writer: KvWriter) => T): Promise<T> {
    try {
      return await this.kv.write(change);
    } catch (error) {
      forgetLists(this.kv);
      throw error;
    }
  }

  private addUse(writer: KvWriter, events: number, bytes: number): void {
    const before = readUse(writer, this.lane);
    const next = { events: before.events + events, bytes: Math.max(0, before.bytes + bytes) };
    writer.put(useKey(this.lane), encoder.encode(JSON.stringify(next)));
  }
}

/** Most tails are: nodes send events as they happen. */
function isSorted(entries: readonly Entry[]): boolean {
  for (let at = 1; at < entries.length; at++) {
    if (entries[at]!.id < entries[at - 1]!.id) return false;
  }
  return true;
}

/** The entry of an id, wherever it is; null when it is not kept. */
export function findEntry(
  reader: KvReader,
  lane: EventLane,
  tail: readonly TailRow[],
  id: string,
  segments: Iterable<{ readonly maxId: string; readonly minId: string }>,
): Entry | null {
  for (const { entries } of tail) {
    const found = entries.find((entry) => entry.id === id);
    if (found !== undefined) return found;
  }
  for (const info of segments) {
    if (info.minId > id) continue;
    const segment = new SegmentReader(reader, lane, info as SegmentDraft['info']);
    for (let low = 0, high = segment.info.count - 1; low <= high;) {
      const middle = (low + high) >>> 1;
      const found = segment.idOf(middle);
      if (found === id) return segment.entry(middle);
      if (found < id) low = middle + 1;
      else high = middle - 1;
    }
  }
  return null;
}

/** What a lane holds. */
export function readUse(reader: KvReader, lane: EventLane): LaneUse {
  const bytes = reader.get(useKey(lane));
  return bytes === undefined
    ? { events: 0, bytes: 0 }
    : (JSON.parse(decoder.decode(bytes)) as LaneUse);
}

/** Takes a batch once and hands its entries on; nothing of it is kept. Rejects as `ingest`. */
export async function passOn(
  kv: Kv,
  lane: string,
  { schemaVersion: wanted, timeField }: Pick<EventKind<StoredEvent>, 'schemaVersion' | 'timeField'>,
  batch: IncomingBatch,
  schemaVersion: number,
  take: (entries: readonly Entry[]) => void,
): Promise<IngestResult> {
  if (schemaVersion !== wanted) return 'schema';
  const { agentId, tenantId, payload } = batch;
  if (crc32c(payload) !== batch.crc32c) return 'crc';
  const entries = entriesOf({ agentId, tenantId, number: 0 }, payload, timeField);
  if (entries === null) return 'schema';
  const first = await kv.write((writer) => firstTime(writer, lane, batch));
  if (!first) return 'repeated';
  take(entries);
  return 'stored';
}

/** Notes the batch as seen; false when it, or a later one of that run, was seen before. */
export function firstTime(writer: KvWriter, lane: string, batch: IncomingBatch): boolean {
  if (wasSeen(writer, lane, batch)) return false;
  writer.put(seenKey(lane, batch), encoder.encode(String(batch.batchSeq)));
  return true;
}

/** True when the batch, or a later one of that run, was noted as seen. */
export function wasSeen(reader: KvReader, lane: string, batch: IncomingBatch): boolean {
  const seen = reader.get(seenKey(lane, batch));
  return seen !== undefined && BigInt(decoder.decode(seen)) >= batch.batchSeq;
}

function seenKey(lane: string, { agentId, bootId }: IncomingBatch): string {
  // The lane of security events is older than the others.
  const stream = lane === 'security' ? [] : [lane];
  return metaKey(['seq', ...stream, agentId, bootId].join(separator));
}

/** Arrivals of all lanes are counted together, so that an id names one event. */
const numberKey = metaKey('number');

function readNumber(reader: KvReader, key: string): number {
  const bytes = reader.get(key);
  return bytes === undefined ? 0 : Number(decoder.decode(bytes));
}

function putNumber(writer: KvWriter, key: string, value: number): void {
  writer.put(key, encoder.encode(String(value)));
}

function useKey(lane: EventLane): string {
  return metaKey(`use${separator}${lane}`);
}

function metaKey(name: string): string {
  return `m${separator}${name}`;
}
