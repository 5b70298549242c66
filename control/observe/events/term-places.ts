/**
 * Gives each value of a column a number, in the order in which they come. Found by the hash that
 * the column has anyway; a client that sends many values of one hash makes nothing slower.
 */

const slotsMin = 64;
/** Slots that are looked at before a value is sought by its text. */
const probesMax = 8;
const multiplier = 0x9e3779b1;

/** Hash of a value (FNV-1a over its UTF-16 units). */
export function hashOfTerm(term: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < term.length; at++) {
    hash = Math.imul(hash ^ term.charCodeAt(at), 0x01000193);
  }
  return hash >>> 0;
}

/** The values of one column. */
export class TermPlaces {
  /** By place. */
  readonly terms: string[] = [];
  /** By place. */
  readonly hashes: number[] = [];
  /** One more than the place of a value; 0 where a slot is free. */
  private slots = new Int32Array(slotsMin);
  /** Values that found no slot. */
  private readonly others = new Map<string, number>();

  /** The place of a value, its next one where it is new. */
  placeOf(term: string): number {
    const hash = hashOfTerm(term);
    const { slots, hashes, terms } = this;
    const mask = slots.length - 1;
    let slot = this.firstSlot(hash);
    for (let probe = 0; probe < probesMax; probe++) {
      const place = slots[slot]! - 1;
      if (place < 0) return this.add(term, hash, slot);
      if (hashes[place] === hash && terms[place] === term) return place;
      slot = (slot + 1) & mask;
    }
    const known = this.others.get(term);
    if (known !== undefined) return known;
    this.others.set(term, terms.length);
    return this.add(term, hash, -1);
  }

  private add(term: string, hash: number, slot: number): number {
    const place = this.terms.length;
    this.terms.push(term);
    this.hashes.push(hash);
    if (slot >= 0) this.slots[slot] = place + 1;
    if (this.terms.length * 4 > this.slots.length) this.grow();
    return place;
  }

  private grow(): void {
    const slots = (this.slots = new Int32Array(this.slots.length * 4));
    this.others.clear();
    for (let place = 0; place < this.terms.length; place++) {
      let slot = this.firstSlot(this.hashes[place]!);
      let probe = 0;
      while (probe < probesMax && slots[slot] !== 0) {
        slot = (slot + 1) & (slots.length - 1);
        probe++;
      }
      if (probe < probesMax) slots[slot] = place + 1;
      else this.others.set(this.terms[place]!, place);
    }
  }

  private firstSlot(hash: number): number {
    const mixed = Math.imul(hash, multiplier);
    return (mixed ^ (mixed >>> 15)) & (this.slots.length - 1);
  }
}
