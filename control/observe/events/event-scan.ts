/**
 * Reads events of some lanes newest first: the tail that is not in a segment yet, and segments, of
 * which those are left out that cannot hold a match. Segments may overlap in time.
 */

import type { KvReader } from '../../store/kv.ts';
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

/** Segments that are looked at before the caller may pause: some 0.1 ms. */
const openedTogether = 16;

/** The ids of a span of time before an id ('' for all of it). */
export function spanOf(
  { startMs, endMs }: Pick<EventFilter, 'startMs' | 'endMs'>,
  beforeId: string,
): IdSpan {
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
  for (let opened = 0; ;) {
    for (let at = streams.length - 1; at >= 0; at--) {
      const stream = streams[at]!;
      while (stream.head() === null && stream.step()) yield null;
      if (stream.head() === null) streams.splice(at, 1);
    }
    const best = newest(streams);
    // A segment may hold something newer than what is known, so it is opened first.
    if (upcoming !== null && (best === null || upcoming.maxId > (best.head()?.id ?? ''))) {
      const found = openSegment(source, upcoming, filter);
      if (found !== null) streams.push(new Stream(scanSegment(source.kind, found, filter, span)));
      if (++opened % openedTogether === 0) yield null;
      upcoming = nextSegment(segments, span);
      continue;
    }
    if (best === null) return;
    yield best.take();
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

/** A segment that may hold a match, and which of its events. */
interface OpenedSegment {
  readonly segment: SegmentReader;
  /** In the order of time; null for all. */
  readonly candidates: ArrayLike<number> | null;
}

/** Null where nothing in the segment fits. Cost: some 5 us where its digest rules it out. */
function openSegment<E extends StoredEvent>(
  { reader, lane }: LaneSource<E>,
  info: SegmentInfo,
  { tenantId, clauses }: PreparedFilter<E>,
): OpenedSegment | null {
  if (!info.tenants.includes(tenantId)) return null;
  const segment = new SegmentReader(reader, lane, info);
  for (const { probes } of clauses) if (!segment.mayHold(probes)) return null;
  const candidates = candidatesOfSegment(segment, clauses);
  return candidates?.length === 0 ? null : { segment, candidates };
}

function* scanSegment<E extends StoredEvent>(
  kind: EventKind<E>,
  { segment, candidates }: OpenedSegment,
  filter: PreparedFilter<E>,
  { startId, endId }: IdSpan,
): Generator<E | null> {
  const eventAt = (at: number): number => (candidates === null ? at : candidates[at]!);
  let next = candidates?.length ?? segment.info.count;
  if (segment.info.maxId >= endId) {
    next = lowest(next, (at) => segment.idOf(eventAt(at)) >= endId);
  }
  while (--next >= 0) {
    const at = eventAt(next);
    if (segment.idOf(at) < startId) return;
    const entry = segment.entry(at);
    const event = entry === null ? null : eventOfEntry(kind, entry);
    yield event !== null && filter.matches(event) ? event : null;
  }
}

/** The first of `count` numbers for which something is true that stays true from there on. */
function lowest(count: number, isTrue: (at: number) => boolean): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isTrue(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/**
 * Events that may fit, in the order of time; null for all of them. Columns are read one after the
 * other as long as something is left: those of the rarest values come first.
 */
function candidatesOfSegment(
  segment: SegmentReader,
  clauses: readonly Clause[],
): ArrayLike<number> | null {
  let found: ArrayLike<number> | null = null;
  for (const { field, hashes } of clauses) {
    const column = segment.peekColumn(field);
    // Segments of earlier versions lack later fields: every event is a candidate.
    if (column === null) continue;
    const places = column.find(hashes);
    if (places.length === 0) return [];
    // The next column comes to where this one is.
    found = found === null ? column.eventsWith(places).slice() : column.among(found, places);
    if (found.length === 0) break;
  }
  return found;
}
