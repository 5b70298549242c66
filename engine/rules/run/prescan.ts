/**
 * Owns one transaction's pass through the native scanner: which rows go to which class, and which
 * rules became candidates on which rows. Makes no decision; a candidate may still not match.
 */

import { lowerBytes } from '../catalog/macro.ts';
import type { Transaction } from '../catalog/transaction.ts';
import type { RulePlan } from '../plan/rule-plan.ts';

/** Reused between transactions of one plan; memory grows with the largest one seen. */
export class Prescan {
  /** Per phase: candidate and always-run rules still to be visited. */
  readonly bits: readonly Uint32Array[];
  private readonly plan: RulePlan;
  private scannedRows = 0;
  private rows = new Int32Array(3 * 128);
  /** Per scanned row: table row * 2 + face. */
  private origin = new Int32Array(128);
  private hits = new Int32Array(2 * 64);
  /** Per slot: newest hit, -1 when none; `next` chains the older ones. */
  private readonly head: Int32Array;
  private hitOrigin = new Int32Array(64);
  private next = new Int32Array(64);
  private hitCount = 0;
  private readonly touched: number[] = [];

  constructor(plan: RulePlan) {
    this.plan = plan;
    this.bits = plan.phases.map((phase) => new Uint32Array(phase.always.length));
    this.head = new Int32Array(plan.slotItem.length).fill(-1);
  }

  reset(): void {
    const { phases } = this.plan;
    for (let p = 1; p < phases.length; p++) this.bits[p]!.set(phases[p]!.always);
    for (const slot of this.touched) this.head[slot] = -1;
    this.touched.length = 0;
    this.hitCount = 0;
    this.scannedRows = 0;
  }

  /** Scans all rows that were added since the last call. Cost: one native call. */
  scan(tx: Transaction): void {
    const { scan } = this.plan;
    const { values } = tx;
    if (scan === null || this.scannedRows === values.count) return;
    const count = this.collect(tx);
    this.scannedRows = values.count;
    if (count === 0) return;
    let found = scan.scan(values.slab, this.rows, count, this.hits);
    if (found * 2 > this.hits.length) {
      this.hits = new Int32Array(found * 2);
      found = scan.scan(values.slab, this.rows, count, this.hits);
    }
    for (let i = 0; i < found; i++)
      this.note(this.hits[2 * i]!, this.origin[this.hits[2 * i + 1]!]!);
  }

  /** Writes the origins (row * 2 + face) where `slot` was hit into `into`, ascending; the count. */
  originsOf(slot: number, into: number[]): number {
    into.length = 0;
    for (let hit = this.head[slot]!; hit >= 0; hit = this.next[hit]!)
      into.push(this.hitOrigin[hit]!);
    if (into.length < 2) return into.length;
    into.sort((a, b) => a - b);
    let count = 1;
    for (let i = 1; i < into.length; i++) if (into[i] !== into[i - 1]) into[count++] = into[i]!;
    return (into.length = count);
  }

  private collect(tx: Transaction): number {
    const { values } = tx;
    const { faces } = this.plan;
    let count = 0;
    for (let row = this.scannedRows; row < values.count; row++) {
      const source = values.source[row]!;
      for (let face = 0; face < 2; face++) {
        const { anyKey, byKey } = faces[source * 2 + face]!;
        for (let i = 0; i < anyKey.length; i++) this.push(count++, row, face, anyKey[i]!, tx);
        const named = byKey?.get(lowerBytes(values.key(row)));
        if (named === undefined) continue;
        for (let i = 0; i < named.length; i++) this.push(count++, row, face, named[i]!, tx);
      }
    }
    return count;
  }

  private push(at: number, row: number, face: number, classId: number, tx: Transaction): void {
    if (at === this.origin.length) this.growRows();
    const { values } = tx;
    this.rows[3 * at] = face === 0 ? values.start[row]! : values.keyStart[row]!;
    this.rows[3 * at + 1] = face === 0 ? values.end[row]! : values.keyEnd[row]!;
    this.rows[3 * at + 2] = classId;
    this.origin[at] = row * 2 + face;
  }

  private note(slot: number, origin: number): void {
    const at = this.hitCount;
    if (at === this.next.length) this.growHits();
    const newest = this.head[slot]!;
    if (newest < 0) {
      this.touched.push(slot);
      const item = this.plan.slotItem[slot]!;
      this.bits[this.plan.slotPhase[slot]!]![item >>> 5]! |= 1 << (item & 31);
    } else if (this.hitOrigin[newest] === origin) return;
    this.hitOrigin[at] = origin;
    this.next[at] = newest;
    this.head[slot] = at;
    this.hitCount = at + 1;
  }

  private growRows(): void {
    this.rows = grown(this.rows);
    this.origin = grown(this.origin);
  }

  private growHits(): void {
    this.hitOrigin = grown(this.hitOrigin);
    this.next = grown(this.next);
  }
}

function grown(old: Int32Array): Int32Array<ArrayBuffer> {
  const next = new Int32Array(2 * old.length);
  next.set(old);
  return next;
}
