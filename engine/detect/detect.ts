/**
 * Values in, leaves with hits out: opens every value and has the families search its leaves. Keeps
 * no state between calls; never judges a request.
 */

import { fromByteString, toByteString, type ByteString } from '../../base/byte-string.ts';
import { detectLimits } from '../base/detect-limits.ts';
import { endsAsHost, isPlainBytes } from './bytes-seen.ts';
import type { Decider, Detected, DetectedLeaf, DetectedValue } from './detection.ts';
import { pathOf, type Family, type Hit, type Leaf, type Report } from './detector.ts';
import { scanBytes, scanned } from './leaf-scan.ts';
import { families } from './list.ts';
import { newBudget, type OpenBudget } from './open/leaves.ts';
import { mayOpen, mayOpenPlain, openValue } from './open/open.ts';
import { QuietValues } from './quiet-values.ts';

const noLeaves: readonly DetectedLeaf[] = [];
const quiet = new QuietValues();

/**
 * Leaves with hits, in the order of the values. Values of letters, digits, `_`, `-` and `.` that
 * name no host cost one look at each byte, values in which nothing was found before cost three.
 * Limits: `detectLimits`, over all values of a call together. A `decider` ends the search.
 */
export function detect(values: readonly DetectedValue[], decider: Decider | null = null): Detected {
  let found: DetectedLeaf[] | null = null;
  const budget = newBudget(bytesOf(values));
  for (let value = 0; value < values.length; value++) {
    const one = values[value]!;
    const { bytes, start = 0, end = bytes.length, isName, isData } = one;
    if (isName !== true && isPlainBytes(bytes, start, end)) {
      if (!mayOpenPlain(bytes, start, end) && !endsAsHost(bytes, start, end)) continue;
    }
    // Data is read in another way; what was not opened for a limit is searched in another way.
    const repeats = isData !== true && budget.complete;
    if (repeats && quiet.find(bytes, start, end) && takeQuiet(budget)) continue;
    scanBytes(bytes, start, end);
    if (!mayOpen() && !mayFind()) {
      if (repeats) quiet.keep(bytes, start, end, 0, 0);
      continue;
    }
    const { leaves: leavesBefore, bytes: bytesBefore } = budget;
    const hitsBefore = found?.length ?? 0;
    report.leftOut = false;
    for (const leaf of openValue(toByteString(bytes, start, end), one.path, budget, isData)) {
      const hits = hitsIn(leaf);
      if (hits.length === 0) continue;
      const opened = leaf.parent !== null;
      const own = opened ? fromByteString(leaf.text) : bytes.subarray(start, end);
      found ??= [];
      const last: DetectedLeaf = { value, path: pathOf(leaf), bytes: own, opened, hits };
      found.push(last);
      if (decider?.decides(last) === true) {
        return { leaves: found, complete: budget.complete, settled: true };
      }
    }
    const isQuiet = (found?.length ?? 0) === hitsBefore && !report.leftOut;
    if (!repeats || !isQuiet || !budget.complete) continue;
    quiet.keep(bytes, start, end, leavesBefore - budget.leaves, bytesBefore - budget.bytes);
  }
  return { leaves: found ?? noLeaves, complete: budget.complete, settled: false };
}

/** Takes what opening the value that was found took; false where the budget is too small. */
function takeQuiet(budget: OpenBudget): boolean {
  const { openedLeaves, openedBytes } = quiet;
  if (budget.leaves < openedLeaves || budget.bytes < openedBytes) return false;
  budget.leaves -= openedLeaves;
  budget.bytes -= openedBytes;
  return true;
}

function bytesOf(values: readonly DetectedValue[]): number {
  let sum = 0;
  for (const { bytes, start = 0, end = bytes.length } of values) sum += end - start;
  return sum;
}

/** The leaves of one text, also those without hits; for tests and explanations. */
export function detectText(text: ByteString, path = 'value'): readonly DetectedLeaf[] {
  return detect([{ path, bytes: fromByteString(text) }]).leaves;
}

const report = new (class implements Report {
  hits: Hit[] = [];
  /** Bytes of the leaf that is searched. */
  length = 0;
  /** What is found in the value depends on its path. */
  leftOut = false;
  private readonly counts = new Map<number, number>();

  add(id: number, start: number, end: number): void {
    const count = this.counts.get(id) ?? 0;
    if (count > detectLimits.hitsPerDetectorMax) return;
    this.counts.set(id, count + 1);
    // No number of harmless hits hides the next one: it is taken to be anywhere.
    const isLast = count === detectLimits.hitsPerDetectorMax;
    this.hits.push(isLast ? { id, start: 0, end: this.length } : { id, start, end });
  }

  leaveOut(): void {
    this.leftOut = true;
  }

  take(): readonly Hit[] {
    const { hits } = this;
    if (hits.length === 0) return hits;
    this.hits = [];
    this.counts.clear();
    return hits;
  }
})();

function hitsIn(leaf: Leaf): readonly Hit[] {
  report.length = leaf.text.length;
  for (let at = 0; at < families.length; at++) {
    const family = families[at]!;
    const searches = searchesOf(family, leaf.seen, leaf.found[at]!);
    if (searches === 0 || !family.kinds.includes(leaf.kind)) continue;
    if (hasNeeds(family, leaf.seen)) family.find(leaf, searches, report);
  }
  return report.take();
}

/** Whether a family may find something in the value that was scanned last. */
function mayFind(): boolean {
  for (let at = 0; at < families.length; at++) {
    const family = families[at]!;
    if (searchesOf(family, scanned.seen, scanned.found[at]!) === 0) continue;
    if (hasNeeds(family, scanned.seen)) return true;
  }
  return false;
}

/** Bits of the searches that may find something. */
function searchesOf(family: Family, seen: number, found: number): number {
  const { literals, marks = 0, searchNeeds } = family;
  if (literals.length === 0 || (seen & marks) !== 0) return -1;
  if (searchNeeds === undefined) return found;
  const { all, one } = searchNeeds;
  let searches = found;
  for (let rest = found; rest !== 0; rest &= rest - 1) {
    const search = 31 - Math.clz32(rest & -rest);
    const isMet =
      (seen & all[search]!) === all[search]! && (one[search] === -1 || (seen & one[search]!) !== 0);
    if (!isMet) searches &= ~(1 << search);
  }
  return searches;
}

function hasNeeds({ needs }: Family, seen: number): boolean {
  for (let at = 0; at < needs.length; at++) if ((seen & needs[at]!) === needs[at]!) return true;
  return false;
}
