/**
 * One index field of a segment: which values its events have. Values are found by a hash of 32
 * bits, so that a hit is a candidate only. Pure.
 *
 * Layout, little-endian: four u32 (a mark that stands for this layout, values, pairs of an event
 * and a value, events), the hashes in ascending order, where the events of each hash end (left out
 * where each value has one event), then the events by hash, in ascending order; both u16, or u32
 * where u16 is too small for one of them. A question reads the events of its values only.
 *
 * The layout before it, which is still read, has the hashes by event: four u32 (values, pairs,
 * events, and 1 where each event has one value), the hashes, the places of the hashes by event and
 * value, and how many of them each event has (only where some have none or several).
 */

import { TermPlaces } from './term-places.ts';

const headWords = 4;
const narrowMax = 0xffff;
/** More values than any column has. */
const layoutMark = 0xffff_ff02;

type Numbers = Uint16Array | Uint32Array;

/** Gathers the values of one field, event by event. */
export class ColumnBuilder {
  private readonly places = new TermPlaces();
  /** The latest event of each value: an event has a value once. */
  private readonly latest: number[] = [];
  private readonly pairPlaces: number[] = [];
  private readonly pairEvents: number[] = [];
  private events = 0;

  add(values: readonly string[]): void {
    const event = this.events++;
    for (let at = 0; at < values.length; at++) {
      const place = this.places.placeOf(values[at]!);
      if (this.latest[place] === event) continue;
      this.latest[place] = event;
      this.pairPlaces.push(place);
      this.pairEvents.push(event);
    }
  }

  /** The column, and its values in the order of their places. */
  finish(): { readonly bytes: Uint8Array; readonly terms: readonly string[] } {
    const { pairPlaces, pairEvents, events } = this;
    const { terms, hashes } = this.places;
    const order = orderOf(hashes);
    const values = order.length;
    const pairs = pairPlaces.length;
    const placeOf = new Uint32Array(values);
    const head = new Uint32Array(headWords + values);
    head.set([layoutMark, values, pairs, events]);
    for (let place = 0; place < values; place++) {
      const old = order[place]!;
      placeOf[old] = place;
      head[headWords + place] = hashes[old]!;
    }
    const places = new Uint32Array(pairs);
    for (let at = 0; at < pairs; at++) places[at] = placeOf[pairPlaces[at]!]!;
    const narrow = isNarrow(pairs, events);
    const sorted = sortByPlace(places, pairEvents, { values, narrow });
    const ends = values === pairs ? sorted.ends.subarray(0, 0) : sorted.ends;
    const bytes = Buffer.concat([bytesOf(head), bytesOf(ends), bytesOf(sorted.events)]);
    return { bytes, terms: terms.map((_, at) => terms[order[at]!]!) };
  }
}

/** Places in the order of their hashes, those of one hash as they came. */
function orderOf(hashes: readonly number[]): Uint32Array {
  const placesMax = 2 ** 21;
  const { length } = hashes;
  const order = new Uint32Array(length);
  for (let place = 0; place < length; place++) order[place] = place;
  if (length > placesMax) return order.sort((one, other) => hashes[one]! - hashes[other]!);
  // Numbers sort without a call for each pair; hash and place together have 53 bits.
  const keys = new Float64Array(length);
  for (let place = 0; place < length; place++) keys[place] = hashes[place]! * placesMax + place;
  keys.sort();
  for (let at = 0; at < length; at++) order[at] = keys[at]! % placesMax;
  return order;
}

function isNarrow(pairs: number, events: number): boolean {
  return pairs <= narrowMax && events <= narrowMax;
}

/** Events by the place of their value, each place's in the order in which they come. */
function sortByPlace(
  places: Numbers,
  eventOf: ArrayLike<number>,
  { values, narrow }: { readonly values: number; readonly narrow: boolean },
): { readonly ends: Numbers; readonly events: Numbers } {
  const make = (length: number): Numbers =>
    narrow ? new Uint16Array(length) : new Uint32Array(length);
  const ends = make(values);
  for (let at = 0; at < places.length; at++) ends[places[at]!]!++;
  const next = new Uint32Array(values);
  for (let place = 1; place < values; place++) {
    next[place] = ends[place - 1]!;
    ends[place]! += ends[place - 1]!;
  }
  const events = make(places.length);
  for (let at = 0; at < places.length; at++) events[next[places[at]!]!++] = eventOf[at]!;
  return { ends, events };
}

/** A column as it is read. */
export class Column {
  /** How many events the segment has, with or without a value. */
  readonly events: number;
  private readonly hashes: Uint32Array;
  /** Where the events of each value end; null where each value has one. */
  private readonly ends: Numbers | null;
  private readonly eventsByValue: Numbers;
  private foundByEvent: { readonly starts: Numbers; readonly places: Numbers } | null = null;

  /** Reads `bytes` where they lie if they are aligned: they must not change. */
  constructor(bytes: Uint8Array) {
    const aligned = bytes.byteOffset % 4 === 0 ? bytes : new Uint8Array(bytes);
    const { buffer, byteOffset, byteLength } = aligned;
    const head = new Uint32Array(buffer, byteOffset, headWords);
    if (head[0] !== layoutMark) {
      const earlier = readEarlier(aligned);
      this.events = earlier.events;
      this.hashes = earlier.hashes;
      this.ends = earlier.ends;
      this.eventsByValue = earlier.eventsByValue;
      return;
    }
    const [, values = 0, pairs = 0, events = 0] = head;
    this.events = events;
    this.hashes = new Uint32Array(buffer, byteOffset + headWords * 4, values);
    const from = byteOffset + (headWords + values) * 4;
    const count = pairs + (values === pairs ? 0 : values);
    const all = isNarrow(pairs, events)
      ? new Uint16Array(buffer, from, count)
      : new Uint32Array(buffer, from, count);
    if (from + all.byteLength > byteOffset + byteLength) throw new RangeError('a column is cut');
    this.ends = values === pairs ? null : all.subarray(0, values);
    this.eventsByValue = values === pairs ? all : all.subarray(values);
  }

  /** Places of values that may be one of those, in ascending order; empty when none is there. */
  find(hashes: readonly number[]): number[] {
    const found: number[] = [];
    for (const hash of hashes) {
      for (let at = this.lowest(hash); at < this.hashes.length; at++) {
        if (this.hashes[at] !== hash) break;
        found.push(at);
      }
    }
    return found.length > 1 ? [...new Set(found)] : found;
  }

  /** How many events have the values at these places, those with several of them counted again. */
  countOf(places: readonly number[]): number {
    let count = 0;
    for (const place of places) count += this.endOf(place) - this.startOf(place);
    return count;
  }

  /** Events with one of the values at `places`, in ascending order. */
  eventsWith(places: readonly number[]): ArrayLike<number> {
    if (places.length === 1) return this.eventsAt(places[0]!);
    const marks = this.marks(places);
    const found: number[] = [];
    for (let event = 0; event < marks.length; event++) if (marks[event] === 1) found.push(event);
    return found;
  }

  /** Those of `events` that have one of the values at `places`. */
  among(events: ArrayLike<number>, places: readonly number[]): number[] {
    const found: number[] = [];
    if (places.length === 1) {
      const having = this.eventsAt(places[0]!);
      let from = 0;
      for (let at = 0; at < events.length; at++) {
        const event = events[at]!;
        from = lowestAt(having, event, from);
        if (having[from] === event) found.push(event);
      }
      return found;
    }
    const marks = this.marks(places);
    for (let at = 0; at < events.length; at++)
      if (marks[events[at]!] === 1) found.push(events[at]!);
    return found;
  }

  /** 1 for each event that has one of the values at `places`. */
  marks(places: readonly number[]): Uint8Array {
    const marks = new Uint8Array(this.events);
    for (const place of places) {
      const end = this.endOf(place);
      for (let at = this.startOf(place); at < end; at++) marks[this.eventsByValue[at]!] = 1;
    }
    return marks;
  }

  /** Calls `take` with the place of each value of an event, in ascending order. */
  each(event: number, take: (place: number) => void): void {
    const { starts, places } = (this.foundByEvent ??= this.byEvent());
    const end = starts[event + 1]!;
    for (let at = starts[event]!; at < end; at++) take(places[at]!);
  }

  private byEvent(): { readonly starts: Numbers; readonly places: Numbers } {
    const { eventsByValue, hashes } = this;
    const starts = new Uint32Array(this.events + 2);
    for (let at = 0; at < eventsByValue.length; at++) starts[eventsByValue[at]! + 2]!++;
    for (let event = 2; event < starts.length; event++) starts[event]! += starts[event - 1]!;
    const places = new Uint32Array(eventsByValue.length);
    for (let place = 0, at = 0; place < hashes.length; place++) {
      for (const end = this.endOf(place); at < end; at++) {
        places[starts[eventsByValue[at]! + 1]!++] = place;
      }
    }
    return { starts, places };
  }

  private eventsAt(place: number): Numbers {
    return this.eventsByValue.subarray(this.startOf(place), this.endOf(place));
  }

  private startOf(place: number): number {
    return this.ends === null || place === 0 ? place : this.ends[place - 1]!;
  }

  private endOf(place: number): number {
    return this.ends === null ? place + 1 : this.ends[place]!;
  }

  private lowest(hash: number): number {
    return lowestAt(this.hashes, hash, 0);
  }
}

/** Where the first number that is not below `wanted` stands, from `low` on. */
function lowestAt(sorted: Numbers, wanted: number, low: number): number {
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle]! < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

function readEarlier({ buffer, byteOffset, byteLength }: Uint8Array): {
  readonly events: number;
  readonly hashes: Uint32Array;
  readonly ends: Numbers;
  readonly eventsByValue: Numbers;
} {
  const head = new Uint32Array(buffer, byteOffset, headWords);
  const [values = 0, pairs = 0, events = 0, single = 0] = head;
  const hashes = new Uint32Array(buffer, byteOffset + headWords * 4, values);
  const at = (headWords + values) * 4;
  const numbers = pairs + (single === 1 ? 0 : events);
  const wide = byteLength - at === numbers * 4 && numbers > 0;
  const all = wide
    ? new Uint32Array(buffer, byteOffset + at, numbers)
    : new Uint16Array(buffer, byteOffset + at, numbers);
  const eventOf: number[] = [];
  const places: number[] = [];
  const latest = new Int32Array(values).fill(-1);
  for (let event = 0, next = 0; event < events; event++) {
    const count = single === 1 ? 1 : all[pairs + event]!;
    const end = next + count;
    for (; next < end; next++) {
      const place = all[next]!;
      // Here an event could have a value twice.
      if (latest[place] === event) continue;
      latest[place] = event;
      places.push(place);
      eventOf.push(event);
    }
  }
  const sorted = sortByPlace(Uint32Array.from(places), eventOf, { values, narrow: false });
  return { events, hashes, ends: sorted.ends, eventsByValue: sorted.events };
}

function bytesOf({ buffer, byteOffset, byteLength }: Numbers): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}
