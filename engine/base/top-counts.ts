/**
 * Owns counting the most frequent texts of a stream in bounded memory (Space-Saving): every text
 * with more than one part in `capacity` of the stream is among those kept. What is reported is
 * never more than what was seen. Knows nothing of what the texts mean.
 */

/** What was counted of one text. */
export interface TopCount {
  readonly key: string;
  /** Occurrences at most: what it took over from a text that gave way is among them. */
  readonly rank: number;
  /** Occurrences for certain: those since the text was last taken up. */
  readonly total: number;
  /** Of these, such as were blocked. */
  readonly blocked: number;
}

const firstSlots = 8;
const hashedCharacters = 32;
const none = -1;

/**
 * Counts of at most `capacity` texts. Cost: `add` of a known text makes no object and reads 32
 * characters of it and compares it once; an unknown one, where all places are taken, passes over
 * all counts.
 */
export class TopCounts {
  readonly #capacity: number;
  #size = 0;
  #keys: string[] = [];
  #ranks = new Float64Array(firstSlots);
  #totals = new Float64Array(firstSlots);
  #blocked = new Float64Array(firstSlots);
  /** First slot of each chain, and the next in it. */
  #heads = new Int32Array(2 * firstSlots).fill(none);
  #next = new Int32Array(firstSlots).fill(none);

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** Counts the first `length` characters of `text`. */
  add(text: string, length: number, total: number, blocked: number): void {
    let slot = this.#find(text, length);
    if (slot === none) slot = this.#takeUp(text, length);
    this.#ranks[slot]! += total;
    this.#totals[slot]! += total;
    this.#blocked[slot]! += blocked;
  }

  /** Takes up what an earlier summary held; for a summary that is still empty of these texts. */
  restore({ key, rank, total, blocked }: TopCount): void {
    if (this.#size >= this.#capacity || this.#find(key, key.length) !== none) return;
    const slot = this.#takeUp(key, key.length);
    this.#ranks[slot] = rank;
    this.#totals[slot] = total;
    this.#blocked[slot] = blocked;
  }

  /** Everything that is kept, in no order. */
  list(): TopCount[] {
    return this.#keys.map((key, slot) => ({
      key,
      rank: this.#ranks[slot]!,
      total: this.#totals[slot]!,
      blocked: this.#blocked[slot]!,
    }));
  }

  #find(text: string, length: number): number {
    let slot = this.#heads[this.#chainOf(text, length)]!;
    while (slot !== none) {
      const key = this.#keys[slot]!;
      if (key.length === length && text.startsWith(key)) return slot;
      slot = this.#next[slot]!;
    }
    return none;
  }

  /** A slot for a new text: a free one, or that of the rarest text, whose rank it inherits. */
  #takeUp(text: string, length: number): number {
    if (this.#size === this.#capacity) return this.#replaceRarest(text, length);
    if (this.#size === this.#ranks.length) this.#grow();
    const slot = this.#size++;
    this.#link(slot, text, length);
    return slot;
  }

  #replaceRarest(text: string, length: number): number {
    let rarest = 0;
    for (let slot = 1; slot < this.#size; slot++) {
      if (this.#ranks[slot]! < this.#ranks[rarest]!) rarest = slot;
    }
    this.#unlink(rarest);
    this.#totals[rarest] = 0;
    this.#blocked[rarest] = 0;
    this.#link(rarest, text, length);
    return rarest;
  }

  #link(slot: number, text: string, length: number): void {
    const key = text.length === length ? text : detached(text, length);
    this.#keys[slot] = key;
    const chain = this.#chainOf(key, length);
    this.#next[slot] = this.#heads[chain]!;
    this.#heads[chain] = slot;
  }

  #unlink(slot: number): void {
    const key = this.#keys[slot]!;
    const chain = this.#chainOf(key, key.length);
    if (this.#heads[chain] === slot) {
      this.#heads[chain] = this.#next[slot]!;
      return;
    }
    let before = this.#heads[chain]!;
    while (this.#next[before] !== slot) before = this.#next[before]!;
    this.#next[before] = this.#next[slot]!;
  }

  #grow(): void {
    const slots = 2 * this.#ranks.length;
    this.#ranks = enlarged(this.#ranks, slots);
    this.#totals = enlarged(this.#totals, slots);
    this.#blocked = enlarged(this.#blocked, slots);
    this.#heads = new Int32Array(2 * slots).fill(none);
    this.#next = new Int32Array(slots).fill(none);
    for (let slot = 0; slot < this.#size; slot++) {
      const key = this.#keys[slot]!;
      this.#link(slot, key, key.length);
    }
  }

  /** FNV-1a over the length and the end of the text: paths and programs differ there. */
  #chainOf(text: string, length: number): number {
    let hash = 0x811c9dc5 ^ length;
    for (let at = Math.max(0, length - hashedCharacters); at < length; at++) {
      hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
    }
    hash ^= hash >>> 15;
    return (hash >>> 0) & (this.#heads.length - 1);
  }
}

function enlarged(values: Float64Array<ArrayBuffer>, length: number): Float64Array<ArrayBuffer> {
  const grown = new Float64Array(length);
  grown.set(values);
  return grown;
}

/** A copy, so that a part does not keep the whole text in memory. */
function detached(text: string, length: number): string {
  return Buffer.from(text.slice(0, length), 'utf16le').toString('utf16le');
}
