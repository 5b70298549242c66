/**
 * Reads events of some lanes newest first: the tail that is not in a segment yet, and segments, of
 * which those are left out that cannot hold a match. Segments may overlap in time.
 */

import type { KvReader } from '../../store/kv.ts';
import type { Entry } from './entry.ts';
import {
  prepareFilter,
  type Clause,
  type EventFilter,
  type PreparedFilter,
} from './event-filter.ts';
import { makeEventId } from './event-id.ts';
import type { EventKind, EventLane, StoredEvent } from './event-kind.ts';
import { SegmentReader, segmentsFrom, type SegmentInfo } from './segment.ts';

/** Where events of one lane are. */
export interface LaneSource<E extends StoredEvent> {
  readonly lane: EventLane;
  readonly kind: EventKind<E>;
  readonly reader: KvReader;
  /** Entries that are in no segment yet. */
  readonly tail: () => Iterable<Entry>;
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

/** Reads an entry as an event; null when it is damaged. */
export function eventOfEntry<E extends StoredEvent>(kind: EventKind<E>, entry: Entry): E | null {
  try {
    if (entry.form === 1) return JSON.parse(Buffer.from(entry.bytes).toString('utf8')) as E;
    return kind.toEvent(entry.bytes, entry);
  } catch {
    // One damaged entry hides no other.
    return null;
  }
}

/** Events of tails: each is asked for until a segment holds it. */
const remembered = new WeakMap<Entry, StoredEvent | null>();

function rememberedEvent<E extends StoredEvent>(kind: EventKind<E>, entry: Entry): E | null {
  let event = remembered.get(entry) as E | null | undefined;
  if (event === undefined) remembered.set(entry, (event = eventOfEntry(kind, entry)));
  return event;
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
  { startId, endId }: IdSpan,
): Generator<E | null> {
  const within = [...tail()].filter(({ id }) => id >= startId && id < endId);
  within.sort((left, right) => (left.id < right.id ? 1 : -1));
  for (const entry of within) {
    const event = rememberedEvent(kind, entry);
    yield event !== null && filter.matches(event) ? event : null;
  }
}

function* scanSegment<E extends StoredEvent>(
  { reader, lane, kind }: LaneSource<E>,
  info: SegmentInfo,
  filter: PreparedFilter<E>,
  { startId, endId }: IdSpan,
): Generator<E | null> {
  const segment = new SegmentReader(reader, lane, info);
  const fits = candidates(segment, filter.clauses);
  if (fits === null) {
    yield null;
    return;
  }
  for (let at = info.count - 1; at >= 0; at--) {
    if (!fits(at)) continue;
    const id = segment.idOf(at);
    if (id >= endId) continue;
    if (id < startId) return;
    const entry = segment.entry(at);
    const event = entry === null ? null : eventOfEntry(kind, entry);
    yield event !== null && filter.matches(event) ? event : null;
  }
}

/** Says of an event of a segment whether it may fit; null when none does. */
export function candidates(
  segment: SegmentReader,
  clauses: readonly Clause[],
): ((event: number) => boolean) | null {
  const checks: ((event: number) => boolean)[] = [];
  for (const { field, hashes } of clauses) {
    const column = segment.column(field);
    // Segments of earlier versions lack later fields: every event is a candidate.
    if (column === null) continue;
    const places = column.find(hashes);
    if (places === null) return null;
    checks.push((event) => column.has(event, places));
  }
  return (event) => checks.every((check) => check(event));
}
