/**
 * One index field of a segment: which values its events have. Values are found by a hash of 32
 * bits, so that a hit is a candidate only. Pure.
 *
 * Layout, little-endian: four u32 (values, pairs, events, and 1 where each event has one value),
 * the hashes in ascending order, then the places of the hashes by event and value, and how many of
 * them each event has (only where some have none or several); both u16, or u32 where u16 is too
 * small for one of them.
 */

const headWords = 4;
const narrowMax = 0xffff;

/** Hash of a value (FNV-1a over its UTF-16 units). */
export function hashOfTerm(term: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < term.length; at++) {
    hash = Math.imul(hash ^ term.charCodeAt(at), 0x01000193);
  }
  return hash >>> 0;
}

/** Gathers the values of one field, event by event. */
export class ColumnBuilder {
  private readonly places = new Map<string, number>();
  private readonly terms: string[] = [];
  private readonly pairs: number[] = [];
  private readonly counts: number[] = [];
  private single = true;

  add(values: readonly string[]): void {
    for (const value of values) {
      let place = this.places.get(value);
      if (place === undefined) {
        place = this.terms.length;
        this.places.set(value, place);
        this.terms.push(value);
      }
      this.pairs.push(place);
    }
    if (values.length !== 1) this.single = false;
    this.counts.push(values.length);
  }

  /** The column, and its values in the order of their places. */
  finish(): { readonly bytes: Uint8Array; readonly terms: readonly string[] } {
    const hashes = this.terms.map(hashOfTerm);
    const order = this.terms.map((_, at) => at).sort((one, other) => hashes[one]! - hashes[other]!);
    const placeOf = new Uint32Array(order.length);
    order.forEach((old, place) => (placeOf[old] = place));
    const counts = this.single ? [] : this.counts;
    const head = [this.terms.length, this.pairs.length, this.counts.length, this.single ? 1 : 0];
    const words = Uint32Array.from([...head, ...order.map((old) => hashes[old]!)]);
    const numbers = [...this.pairs.map((place) => placeOf[place]!), ...counts];
    const narrow = this.terms.length <= narrowMax && counts.every((one) => one <= narrowMax);
    const rest = narrow ? Uint16Array.from(numbers) : Uint32Array.from(numbers);
    const bytes = Buffer.concat([
      new Uint8Array(words.buffer),
      new Uint8Array(rest.buffer, 0, rest.byteLength),
    ]);
    return { bytes, terms: order.map((old) => this.terms[old]!) };
  }
}

/** A column as it is read. */
export class Column {
  private readonly hashes: Uint32Array;
  private readonly values: number;
  private readonly pairs: Uint16Array | Uint32Array;
  /** How many values each event has; null where each has one. */
  private readonly counts: Uint16Array | Uint32Array | null;
  private foundStarts: Uint32Array | null = null;

  /** Reads `bytes` where they lie if they are aligned: they must not change. */
  constructor(bytes: Uint8Array) {
    const { byteLength } = bytes;
    const { buffer, byteOffset } = bytes.byteOffset % 4 === 0 ? bytes : Uint8Array.from(bytes);
    const head = new Uint32Array(buffer, byteOffset, headWords);
    const [values = 0, pairs = 0, events = 0, single = 0] = head;
    this.values = values;
    this.hashes = new Uint32Array(buffer, byteOffset + headWords * 4, values);
    const at = (headWords + values) * 4;
    const numbers = pairs + (single === 1 ? 0 : events);
    const wide = byteLength - at === numbers * 4 && numbers > 0;
    const from = byteOffset + at;
    const all = wide
      ? new Uint32Array(buffer, from, numbers)
      : new Uint16Array(buffer, from, numbers);
    this.pairs = all.subarray(0, pairs);
    this.counts = single === 1 ? null : all.subarray(pairs);
  }

  /**
   * Where the values of each event begin; null where each has one. Most segments lack what is
   * looked for, and are never asked.
   */
  private get starts(): Uint32Array | null {
    if (this.counts === null) return null;
    return (this.foundStarts ??= startsOf(this.counts));
  }

  /** Places of values that may be one of those; null when none of them is there. */
  find(hashes: readonly number[]): Uint8Array | null {
    let found: Uint8Array | null = null;
    for (const hash of hashes) {
      for (let at = this.lowest(hash); at < this.values; at++) {
        if (this.hashes[at] !== hash) break;
        found ??= new Uint8Array(this.values);
        found[at] = 1;
      }
    }
    return found;
  }

  /** How many values it has: a field with more of them tells events apart better. */
  get size(): number {
    return this.values;
  }

  /** Events with one of the values at `places`, in ascending order. */
  eventsWith(places: Uint8Array): number[] {
    const { pairs, starts } = this;
    const found: number[] = [];
    if (starts === null) {
      for (let at = 0; at < pairs.length; at++) if (places[pairs[at]!] === 1) found.push(at);
      return found;
    }
    for (let at = 0, event = 0; at < pairs.length; at++) {
      if (places[pairs[at]!] !== 1) continue;
      while (starts[event + 1]! <= at) event++;
      if (found.at(-1) !== event) found.push(event);
    }
    return found;
  }

  /** True when one of an event's values is among `places`. */
  has(event: number, places: Uint8Array): boolean {
    const [from, to] = this.rangeOf(event);
    for (let at = from; at < to; at++) if (places[this.pairs[at]!] === 1) return true;
    return false;
  }

  /** Calls `take` with the place of each value of an event. */
  each(event: number, take: (place: number) => void): void {
    const [from, to] = this.rangeOf(event);
    for (let at = from; at < to; at++) take(this.pairs[at]!);
  }

  private rangeOf(event: number): readonly [number, number] {
    const { starts } = this;
    return starts === null ? [event, event + 1] : [starts[event]!, starts[event + 1]!];
  }

  private lowest(hash: number): number {
    let low = 0;
    let high = this.values;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.hashes[middle]! < hash) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function startsOf(counts: Uint16Array | Uint32Array): Uint32Array {
  const starts = new Uint32Array(counts.length + 1);
  for (let event = 0; event < counts.length; event++) {
    starts[event + 1] = starts[event]! + counts[event]!;
  }
  return starts;
}
