/**
 * Values in which nothing was found, kept with all their bytes: requests of a site repeat names,
 * settings and texts, and what was searched before needs no search. Never keeps a value with a hit.
 */

/** Values of up to `bytesMax` bytes, each in the place that its hash names. */
interface Shelf {
  readonly bytesMax: number;
  readonly bytes: Uint8Array;
  /** Of the value in each place; 0 for none. */
  readonly lengths: Uint16Array;
  /** What opening it took from the budget of a request. */
  readonly openedLeaves: Uint16Array;
  readonly openedBytes: Uint32Array;
}

/** Bytes of a value, and places, of each shelf: 768 KB a thread, made when one is kept. */
const shelfSizes: readonly (readonly [number, number])[] = [
  [64, 4096],
  [512, 512],
  [2048, 128],
];
const openedLeavesMax = 65_535;

/** Those of a thread; a newer value takes the place of an older one. */
export class QuietValues {
  private shelves: readonly Shelf[] = [];
  private shelf: Shelf | null = null;
  private place = 0;

  /**
   * Whether the value in [start, end) is kept; what is asked for or kept next is about this one.
   * Cost: two looks at each byte.
   */
  find(bytes: Uint8Array, start: number, end: number): boolean {
    const length = end - start;
    const shelf = this.shelfOf(length);
    this.shelf = shelf;
    if (shelf === null) return false;
    const place = hashOf(bytes, start, end) & (shelf.lengths.length - 1);
    this.place = place;
    if (shelf.lengths[place] !== length) return false;
    const kept = shelf.bytes;
    for (let at = start, from = place * shelf.bytesMax; at < end; at++, from++) {
      if (bytes[at] !== kept[from]) return false;
    }
    return true;
  }

  /** Leaves below the value that was found. */
  get openedLeaves(): number {
    return this.shelf?.openedLeaves[this.place] ?? 0;
  }

  /** Bytes of those leaves. */
  get openedBytes(): number {
    return this.shelf?.openedBytes[this.place] ?? 0;
  }

  /** Keeps the value that was asked for last and not found. */
  keep(bytes: Uint8Array, start: number, end: number, leaves: number, leafBytes: number): void {
    const { shelf, place } = this;
    if (shelf === null || leaves > openedLeavesMax) return;
    shelf.bytes.set(bytes.subarray(start, end), place * shelf.bytesMax);
    shelf.lengths[place] = end - start;
    shelf.openedLeaves[place] = leaves;
    shelf.openedBytes[place] = leafBytes;
  }

  private shelfOf(length: number): Shelf | null {
    if (this.shelves.length === 0) this.shelves = shelfSizes.map(newShelf);
    for (const shelf of this.shelves) if (length <= shelf.bytesMax) return shelf;
    return null;
  }
}

function newShelf([bytesMax, places]: readonly [number, number]): Shelf {
  return {
    bytesMax,
    bytes: new Uint8Array(bytesMax * places),
    lengths: new Uint16Array(places),
    openedLeaves: new Uint16Array(places),
    openedBytes: new Uint32Array(places),
  };
}

/** Source: Fowler, Noll, Vo, draft-eastlake-fnv-17 (FNV-1a), its high bits folded in. */
function hashOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = 0x811c9dc5 | 0;
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ bytes[at]!, 0x01000193);
  return hash ^ (hash >>> 15);
}
