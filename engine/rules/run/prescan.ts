/**
 * One transaction's pass through the native scanner: which rules
 * became candidates on which rows. Makes no decision; a candidate may still not match.
 */

import { poolLimits } from '../../base/limits.ts';
import { ruleRunLimits } from '../../../base/rule-limits.ts';
import type { Transaction } from '../transaction/transaction.ts';
import type { ValueTable } from '../transaction/values.ts';
import type { RulePlan } from '../plan/rule-plan.ts';

/** Reused between transactions of one plan; memory grows with the largest one seen. */
export class Prescan {
  /** Per phase: rules still to be visited; those that always run are added when it begins. */
  readonly bits: readonly Uint32Array[];
  /** Per phase: rules that a row says cannot match. */
  readonly ruledOut: readonly Uint32Array[];
  private readonly plan: RulePlan;
  private scannedRows = 0;
  /** Of the next row, the classes that have looked already; most rows are looked at in one go. */
  private scannedClasses = 0;
  private readonly classesMax: number;
  /** The scanner's name for a value table, which table that is, and which version of it. */
  private readonly table: number;
  private known: ValueTable | null = null;
  private knownVersion = -1;
  /** Per scan target: newest hit, -1 when none; `next` chains the older ones. */
  private readonly head: Int32Array;
  /** Per hit: table row * 2 + part. */
  private hitLocation = new Int32Array(64);
  private next = new Int32Array(64);
  private hitCount = 0;
  /** Scan targets that were hit. */
  private readonly touched: Int32Array;
  private touchedCount = 0;

  constructor(plan: RulePlan) {
    this.plan = plan;
    this.bits = plan.phases.map((phase) => new Uint32Array(phase.always.length));
    this.ruledOut = plan.phases.map((phase) => new Uint32Array(phase.always.length));
    this.head = new Int32Array(plan.targetItem.length).fill(-1);
    this.touched = new Int32Array(plan.targetItem.length);
    this.table = plan.scan?.newTable() ?? 0;
    this.classesMax = classesOfPart(plan);
  }

  reset(): void {
    const { phases } = this.plan;
    for (let p = 1; p < phases.length; p++) {
      this.bits[p]!.fill(0);
      this.ruledOut[p]!.fill(0);
    }
    for (let i = 0; i < this.touchedCount; i++) this.head[this.touched[i]!] = -1;
    this.touchedCount = 0;
    this.hitCount = 0;
    this.scannedRows = 0;
    this.scannedClasses = 0;
  }

  /** The request is over: what the scanner knows of its table keeps no large memory. */
  rest(): void {
    if (this.known === null || this.known.slab.length <= ruleRunLimits.transactionBytesKept) return;
    this.plan.scan?.detach(this.table);
    this.known = null;
  }

  /** Gives the table's place back; the object must not be used again. */
  close(): void {
    this.plan.scan?.releaseTable(this.table);
  }

  /** Scans all rows that were added since the last call. Cost: one native call. */
  scan(tx: Transaction): void {
    if (!this.attach(tx)) return;
    this.scannedClasses = 0;
    this.scanRows(tx.values.count, -1);
  }

  /**
   * Scans the next rows, some `bytesMax` of them, or what one class looks for in a larger row.
   * True when nothing is left. Cost: one native call.
   */
  scanSome(tx: Transaction, bytesMax: number): boolean {
    if (!this.attach(tx)) return true;
    const { values } = tx;
    let bytes = 0;
    let to = this.scannedRows;
    for (; to < values.count; to++) {
      bytes += values.end[to]! - values.start[to]! + poolLimits.stepRowBytes;
      if (bytes > bytesMax) break;
    }
    if (to > this.scannedRows) this.scanRows(to, -1);
    else this.scanClass();
    return this.scannedRows === values.count;
  }

  /** Leaves out what was not scanned: nobody waits for it any more. */
  skipRest(tx: Transaction): void {
    this.scannedRows = tx.values.count;
  }

  /** False when there is nothing to scan. */
  private attach({ values }: Transaction): boolean {
    const { scan } = this.plan;
    if (scan === null || this.scannedRows === values.count) return false;
    if (this.known !== values || this.knownVersion !== values.version) {
      scan.attach(this.table, values);
      this.known = values;
      this.knownVersion = values.version;
    }
    return true;
  }

  private scanClass(): void {
    const row = this.scannedRows;
    this.scanRows(row + 1, this.scannedClasses++);
    if (this.scannedClasses < this.classesMax) this.scannedRows = row;
    else this.scannedClasses = 0;
  }

  private scanRows(to: number, onlyClass: number): void {
    const scan = this.plan.scan!;
    const found = scan.scanRows(this.table, this.scannedRows, to, onlyClass);
    this.scannedRows = to;
    const { hits } = scan;
    for (let i = 0; i < found; i++) this.note(hits[2 * i]!, hits[2 * i + 1]!);
  }

  /** Writes the locations (row * 2 + part) of the hits into `into`, ascending; the count. */
  locationsOf(targetId: number, into: number[]): number {
    let hit = this.head[targetId]!;
    if (hit < 0) return 0;
    if (this.next[hit]! < 0) {
      into[0] = this.hitLocation[hit]!;
      return 1;
    }
    if (into.length > 0) into.length = 0;
    for (; hit >= 0; hit = this.next[hit]!) into.push(this.hitLocation[hit]!);
    into.sort((a, b) => a - b);
    let count = 1;
    for (let i = 1; i < into.length; i++) if (into[i] !== into[i - 1]) into[count++] = into[i]!;
    return count;
  }

  private note(targetId: number, location: number): void {
    const at = this.hitCount;
    if (at === this.next.length) this.growHits();
    const newest = this.head[targetId]!;
    if (newest < 0) {
      this.touched[this.touchedCount++] = targetId;
      const item = this.plan.targetItem[targetId]!;
      const bits = this.plan.negative[targetId] === 1 ? this.ruledOut : this.bits;
      bits[this.plan.targetPhase[targetId]!]![item >>> 5]! |= 1 << (item & 31);
    } else if (this.hitLocation[newest] === location) return;
    this.hitLocation[at] = location;
    this.next[at] = newest;
    this.head[targetId] = at;
    this.hitCount = at + 1;
  }

  private growHits(): void {
    this.hitLocation = grown(this.hitLocation);
    this.next = grown(this.next);
  }
}

/** The most classes that look at one part of a row. */
function classesOfPart({ rowParts }: RulePlan): number {
  return rowParts.reduce((most, { anyKey, byKey }) => {
    const named = [...(byKey?.values() ?? [])].map((classes) => classes.length);
    return Math.max(most, anyKey.length + Math.max(0, ...named));
  }, 0);
}

function grown(old: Int32Array): Int32Array<ArrayBuffer> {
  const next = new Int32Array(2 * old.length);
  next.set(old);
  return next;
}
