/**
 * Reads events of some lanes newest first: the tail that is not in a segment yet, and segments, of
 * which those are left out that cannot hold a match. Segments may overlap in time.
 */

import type { KvReader } from '../../store/kv.ts';
import type { Column } from './column.ts';
import type { Entry } from './entry.ts';
import {
  mayFit,
  prepareFilter,
  type Clause,
  type EventFilter,
  type PreparedFilter,
} from './event-filter.ts';
import { makeEventId } from './event-id.ts';
import type { EventKind, EventLane, StoredEvent } from './event-kind.ts';
import { eventOfEntry } from './read-entry.ts';
import { segmentsFrom, type SegmentInfo } from './segment-list.ts';
import { SegmentReader } from './segment.ts';
import { indexRow, type TailRow } from './tail.ts';

/** Where events of one lane are. */
export interface LaneSource<E extends StoredEvent> {
  readonly lane: EventLane;
  readonly kind: EventKind<E>;
  readonly reader: KvReader;
  /** Batches whose events are in no segment yet. */
  readonly tail: () => readonly TailRow[];
}

/** Ids that are meant: from the first, up to and without the second. */
export interface IdSpan {
  readonly startId: string;
  readonly endId: string;
}

/** The ids of a span of time before an id ('' for all of it). */
export function spanOf({ startMs, endMs }: EventFilter, beforeId: string): IdSpan {
  const end = makeEventId(endMs, 0);
  return {
    startId: makeEventId(startMs, 0),
    endId: beforeId !== '' && beforeId < end ? beforeId : end,
  };
}

/**
 * Events that fit, newest first. Gives null now and then where nothing is found for long, so that
 * the caller can let others work.
 */
export function* scanEvents<E extends StoredEvent>(
  sources: readonly LaneSource<E>[],
  filter: EventFilter,
  beforeId: string,
): Generator<E | null> {
  const span = spanOf(filter, beforeId);
  if (span.endId <= span.startId) return;
  const streams: Stream<E>[] = [];
  for (const source of sources) {
    const stream = new Stream(scanLane(source, prepareFilter(source.kind, filter), span));
    streams.push(stream);
  }
  for (;;) {
    for (const stream of streams) while (stream.head() === null && stream.step()) yield null;
    const best = newest(streams);
    if (best === null) return;
    yield best.take();
  }
}

/** A generator with its next event; `null` from it only means that it looked in vain so far. */
class Stream<E extends StoredEvent> {
  private readonly events: Generator<E | null>;
  private next: E | null = null;
  private ended = false;

  constructor(events: Generator<E | null>) {
    this.events = events;
  }

  head(): E | null {
    return this.next;
  }

  /** Looks on; false at the end. */
  step(): boolean {
    if (this.ended) return false;
    const { value, done } = this.events.next();
    if (done === true) this.ended = true;
    else this.next = value;
    return !this.ended;
  }

  take(): E | null {
    const taken = this.next;
    this.next = null;
    return taken;
  }
}

function newest<E extends StoredEvent>(streams: readonly Stream<E>[]): Stream<E> | null {
  let best: Stream<E> | null = null;
  for (const stream of streams) {
    const id = stream.head()?.id;
    if (id !== undefined && id > (best?.head()?.id ?? '')) best = stream;
  }
  return best;
}

function* scanLane<E extends StoredEvent>(
  source: LaneSource<E>,
  filter: PreparedFilter<E>,
  span: IdSpan,
): Generator<E | null> {
  const streams = [new Stream(scanTail(source, filter, span))];
  const segments = segmentsFrom(source.reader, source.lane, span.startId);
  let upcoming = nextSegment(segments, span);
  for (;;) {
    for (const stream of streams) while (stream.head() === null && stream.step()) yield null;
    const best = newest(streams);
    // A segment may hold something newer than what is known, so it is opened first.
    if (upcoming !== null && (best === null || upcoming.maxId > (best.head()?.id ?? ''))) {
      streams.push(new Stream(scanSegment(source, upcoming, filter, span)));
      upcoming = nextSegment(segments, span);
      continue;
    }
    if (best === null) return;
    yield best.take();
    dropEnded(streams);
  }
}

/** Streams that ended are not asked again; the first is the tail. */
function dropEnded<E extends StoredEvent>(streams: Stream<E>[]): void {
  for (let at = streams.length - 1; at > 0; at--) {
    const stream = streams[at]!;
    if (stream.head() === null && !stream.step()) streams.splice(at, 1);
  }
}

function nextSegment(segments: Generator<SegmentInfo>, span: IdSpan): SegmentInfo | null {
  for (;;) {
    const { value, done } = segments.next();
    if (done === true) return null;
    if (value.minId < span.endId) return value;
  }
}

function* scanTail<E extends StoredEvent>(
  { kind, tail }: LaneSource<E>,
  filter: PreparedFilter<E>,
  span: IdSpan,
): Generator<E | null> {
  const found: Entry[] = [];
  for (const row of tail()) {
    if (!row.entries.some(({ id }) => isWithin(id, span))) continue;
    if (filter.clauses.length > 0) yield* indexRow(kind, row);
    found.push(...candidatesOfRow(row, filter.clauses, span));
  }
  found.sort((left, right) => (left.id < right.id ? 1 : -1));
  for (const entry of found) {
    const event = eventOfEntry(kind, entry);
    yield event !== null && filter.matches(event) ? event : null;
  }
}

function candidatesOfRow(
  { entries, terms }: TailRow,
  clauses: readonly Clause[],
  span: IdSpan,
): Entry[] {
  return entries.filter(({ id }, at) => {
    if (!isWithin(id, span)) return false;
    if (clauses.length === 0) return true;
    const known = terms[at] ?? null;
    return known !== null && mayFit(clauses, known);
  });
}

function isWithin(id: string, { startId, endId }: IdSpan): boolean {
  return id >= startId && id < endId;
}

function* scanSegment<E extends StoredEvent>(
  { reader, lane, kind }: LaneSource<E>,
  info: SegmentInfo,
  filter: PreparedFilter<E>,
  { startId, endId }: IdSpan,
): Generator<E | null> {
  const segment = new SegmentReader(reader, lane, info);
  const found = candidatesOfSegment(segment, filter.clauses);
  yield null;
  for (let next = (found?.length ?? info.count) - 1; next >= 0; next--) {
    const at = found === null ? next : found[next]!;
    const id = segment.idOf(at);
    if (id >= endId) continue;
    if (id < startId) return;
    const entry = segment.entry(at);
    const event = entry === null ? null : eventOfEntry(kind, entry);
    yield event !== null && filter.matches(event) ? event : null;
  }
}

/** Events that may fit, in the order of time; null for all of them. */
function candidatesOfSegment(
  segment: SegmentReader,
  clauses: readonly Clause[],
): ArrayLike<number> | null {
  const searched: Searched[] = [];
  for (const { field, hashes } of clauses) {
    const column = segment.column(field);
    // Segments of earlier versions lack later fields: every event is a candidate.
    if (column === null) continue;
    const places = column.find(hashes);
    if (places.length === 0) return [];
    searched.push({ column, places, count: column.countOf(places) });
  }
  if (searched.length > 1) searched.sort((one, other) => one.count - other.count);
  let found: ArrayLike<number> | null = null;
  for (const { column, places } of searched) {
    found = found === null ? column.eventsWith(places) : column.among(found, places);
    if (found.length === 0) break;
  }
  return found;
}

/** What a clause comes to in one segment. */
interface Searched {
  readonly column: Column;
  readonly places: readonly number[];
  /** Events that have one of its values. */
  readonly count: number;
}
