/**
 * Counts the most frequent texts of a stream in bounded memory (Space-Saving): every text with more
 * than one part in `capacity` of the stream is among those kept. What is reported is never more
 * than what was seen. Knows nothing of what the texts mean.
 */

/** What was counted of one text. */
export interface TopCount {
  readonly key: string;
  /** Upper bound of the occurrences: includes the count of the text that it replaced. */
  readonly rank: number;
  /** Lower bound of the occurrences: those since the text was last added. */
  readonly total: number;
  /** Of these, such as were blocked. */
  readonly blocked: number;
}

const firstSlots = 8;
/** Characters hashed at the end of a text, and about as many of the rest. */
const hashedCharacters = 16;
const none = -1;

/**
 * Counts of at most `capacity` texts. Cost: `add` of a known text makes no object; it hashes some
 * 32 of its characters and compares it once, 100 to 300 ns. An unknown one, where all places are
 * taken, passes over all counts.
 */
export class TopCounts {
  readonly #capacity: number;
  #size = 0;
  #keys: string[] = [];
  #ranks = new Float64Array(firstSlots);
  #totals = new Float64Array(firstSlots);
  #blocked = new Float64Array(firstSlots);
  #hashes = new Int32Array(firstSlots);
  /** First slot of each chain, and the next in it. */
  #heads = new Int32Array(2 * firstSlots).fill(none);
  #next = new Int32Array(firstSlots).fill(none);

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** Counts the first `length` characters of `text`. */
  add(text: string, length: number, total: number, blocked: number): void {
    const hash = hashOf(text, length);
    let slot = this.#find(text, length, hash);
    if (slot === none) slot = this.#takeUp(text, length, hash);
    this.#ranks[slot]! += total;
    this.#totals[slot]! += total;
    this.#blocked[slot]! += blocked;
  }

  /** Takes up what an earlier summary held; for a summary that is still empty of these texts. */
  restore({ key, rank, total, blocked }: TopCount): void {
    const hash = hashOf(key, key.length);
    if (this.#size >= this.#capacity || this.#find(key, key.length, hash) !== none) return;
    const slot = this.#takeUp(key, key.length, hash);
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

  #find(text: string, length: number, hash: number): number {
    let slot = this.#heads[hash & (this.#heads.length - 1)]!;
    while (slot !== none) {
      if (this.#hashes[slot] === hash && isPart(text, length, this.#keys[slot]!)) return slot;
      slot = this.#next[slot]!;
    }
    return none;
  }

  /** A slot for a new text: a free one, or that of the rarest text, whose rank it inherits. */
  #takeUp(text: string, length: number, hash: number): number {
    const full = this.#size === this.#capacity;
    if (!full && this.#size === this.#ranks.length) this.#grow();
    const slot = full ? this.#giveUpRarest() : this.#size++;
    this.#keys[slot] = text.length === length ? text : detached(text, length);
    this.#link(slot, hash);
    return slot;
  }

  #giveUpRarest(): number {
    let rarest = 0;
    for (let slot = 1; slot < this.#size; slot++) {
      if (this.#ranks[slot]! < this.#ranks[rarest]!) rarest = slot;
    }
    this.#unlink(rarest);
    this.#totals[rarest] = 0;
    this.#blocked[rarest] = 0;
    return rarest;
  }

  #link(slot: number, hash: number): void {
    const chain = hash & (this.#heads.length - 1);
    this.#hashes[slot] = hash;
    this.#next[slot] = this.#heads[chain]!;
    this.#heads[chain] = slot;
  }

  #unlink(slot: number): void {
    const chain = this.#hashes[slot]! & (this.#heads.length - 1);
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
    const hashes = this.#hashes;
    this.#hashes = new Int32Array(slots);
    this.#heads = new Int32Array(2 * slots).fill(none);
    this.#next = new Int32Array(slots).fill(none);
    for (let slot = 0; slot < this.#size; slot++) this.#link(slot, hashes[slot]!);
  }
}

function isPart(text: string, length: number, key: string): boolean {
  if (key.length !== length) return false;
  return text.length === length ? text === key : text.startsWith(key);
}

/** FNV-1a over the length, the end of the text, and evenly spaced characters before it. */
function hashOf(text: string, length: number): number {
  const tail = Math.max(0, length - hashedCharacters);
  const step = Math.floor(length / hashedCharacters) + 1;
  let hash = 0x811c9dc5 ^ length;
  for (let at = tail; at < length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  for (let at = 0; at < tail; at += step) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  return hash ^ (hash >>> 15);
}

function enlarged(values: Float64Array<ArrayBuffer>, length: number): Float64Array<ArrayBuffer> {
  const grown = new Float64Array(length);
  grown.set(values);
  return grown;
}

/** A copy, so that a part does not keep the whole text; one byte a character where it can. */
function detached(text: string, length: number): string {
  return Buffer.from(text.slice(0, length), 'utf8').toString('utf8');
}
