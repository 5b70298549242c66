/**
 * Owns how much input one thread keeps for all its clients together: heads that are not complete
 * and bodies that wait for inspection. Each is bounded by itself; this bounds many at once.
 */

/** One budget; whoever keeps bytes says so before, and says when they are gone. */
export class HeldBudget {
  /** Bytes kept now. */
  used = 0;
  private readonly bytesMax: number;

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }

  /** Someone who kept `before` bytes keeps `after`; false, and nothing changed, past the bound. */
  change(before: number, after: number): boolean {
    const used = this.used + after - before;
    if (after > before && used > this.bytesMax) return false;
    this.used = used;
    return true;
  }
}
