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

/** Events of each value, one value after the other. */
interface EventsByValue {
  /** Where those of each value end; null where each value has one. */
  readonly ends: Numbers | null;
  readonly events: Numbers;
}

/** A column to write. */
export interface FinishedColumn {
  readonly bytes: Uint8Array;
  readonly terms: readonly string[];
  readonly hashes: readonly number[];
}

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

  /** The column, its values in the order of their places, and their hashes. */
  finish(): FinishedColumn {
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
    return { bytes, terms: terms.map((_, at) => terms[order[at]!]!), hashes };
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
  /** The whole column in the layout before, until its events are asked for. */
  private readonly earlier: Uint8Array | null;
  private lists: EventsByValue | null;
  private foundByEvent: { readonly starts: Numbers; readonly places: Numbers } | null = null;

  /** Reads `bytes` where they lie if they are aligned: they must not change. */
  constructor(bytes: Uint8Array) {
    const aligned = bytes.byteOffset % 4 === 0 ? bytes : new Uint8Array(bytes);
    const { buffer, byteOffset, byteLength } = aligned;
    const head = new Uint32Array(buffer, byteOffset, headWords);
    if (head[0] !== layoutMark) {
      this.events = head[2]!;
      this.hashes = new Uint32Array(buffer, byteOffset + headWords * 4, head[0]);
      this.earlier = aligned;
      this.lists = null;
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
    this.earlier = null;
    this.lists =
      values === pairs
        ? { ends: null, events: all }
        : { ends: all.subarray(0, values), events: all.subarray(values) };
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

  /** Events with one of the values at `places`, in ascending order. */
  eventsWith(places: readonly number[]): Numbers | number[] {
    if (places.length === 1) return this.eventsAt(places[0]!);
    const marks = this.marks(places);
    const found: number[] = [];
    for (let event = 0; event < marks.length; event++) if (marks[event] === 1) found.push(event);
    return found;
  }

  /** Those of `events`, which ascend, that have one of the values at `places`. */
  among(events: ArrayLike<number>, places: readonly number[]): number[] {
    if (places.length === 1) return inBoth(events, this.eventsAt(places[0]!));
    const found: number[] = [];
    const marks = this.marks(places);
    for (let at = 0; at < events.length; at++) {
      if (marks[events[at]!] === 1) found.push(events[at]!);
    }
    return found;
  }

  /** 1 for each event that has one of the values at `places`. */
  marks(places: readonly number[]): Uint8Array {
    const { ends, events } = this.byValue();
    const marks = new Uint8Array(this.events);
    for (const place of places) {
      const end = endOf(ends, place);
      for (let at = startOf(ends, place); at < end; at++) marks[events[at]!] = 1;
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
    const { ends, events } = this.byValue();
    const starts = new Uint32Array(this.events + 2);
    for (let at = 0; at < events.length; at++) starts[events[at]! + 2]!++;
    for (let event = 2; event < starts.length; event++) starts[event]! += starts[event - 1]!;
    const places = new Uint32Array(events.length);
    for (let place = 0, at = 0; place < this.hashes.length; place++) {
      const end = endOf(ends, place);
      for (; at < end; at++) places[starts[events[at]! + 1]!++] = place;
    }
    return { starts, places };
  }

  private eventsAt(place: number): Numbers {
    const { ends, events } = this.byValue();
    return events.subarray(startOf(ends, place), endOf(ends, place));
  }

  private byValue(): EventsByValue {
    return (this.lists ??= readEarlier(this.earlier!));
  }

  private lowest(hash: number): number {
    return lowestAt(this.hashes, hash, 0);
  }
}

/** Numbers of two ascending lists: those of the shorter one are sought in the other. */
function inBoth(one: ArrayLike<number>, other: ArrayLike<number>): number[] {
  const [few, many] = one.length <= other.length ? [one, other] : [other, one];
  const found: number[] = [];
  for (let at = 0, from = 0; at < few.length; at++) {
    const wanted = few[at]!;
    from = lowestAt(many, wanted, from);
    if (many[from] === wanted) found.push(wanted);
  }
  return found;
}

/** Where the first number that is not below `wanted` stands, from `low` on. */
function lowestAt(sorted: ArrayLike<number>, wanted: number, low: number): number {
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle]! < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

function startOf(ends: Numbers | null, place: number): number {
  return ends === null || place === 0 ? place : ends[place - 1]!;
}

function endOf(ends: Numbers | null, place: number): number {
  return ends === null ? place + 1 : ends[place]!;
}

/** Turns the layout before around. */
function readEarlier({ buffer, byteOffset, byteLength }: Uint8Array): EventsByValue {
  const head = new Uint32Array(buffer, byteOffset, headWords);
  const [values = 0, pairs = 0, events = 0, single = 0] = head;
  const at = (headWords + values) * 4;
  const numbers = pairs + (single === 1 ? 0 : events);
  const wide = byteLength - at === numbers * 4 && numbers > 0;
  const all = wide
    ? new Uint32Array(buffer, byteOffset + at, numbers)
    : new Uint16Array(buffer, byteOffset + at, numbers);
  if (single === 1) {
    const eventOf = new Uint32Array(pairs);
    for (let event = 0; event < pairs; event++) eventOf[event] = event;
    return sortByPlace(all, eventOf, { values, narrow: false });
  }
  const eventOf = new Uint32Array(pairs);
  const places = new Uint32Array(pairs);
  const latest = new Int32Array(values).fill(-1);
  let kept = 0;
  for (let event = 0, next = 0; event < events; event++) {
    const end = next + all[pairs + event]!;
    for (; next < end; next++) {
      const place = all[next]!;
      // Here an event could have a value twice.
      if (latest[place] === event) continue;
      latest[place] = event;
      places[kept] = place;
      eventOf[kept++] = event;
    }
  }
  return sortByPlace(places.subarray(0, kept), eventOf, { values, narrow: false });
}

function bytesOf({ buffer, byteOffset, byteLength }: Numbers): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}
