/**
 * Values in, leaves with hits out: opens every value and has the families search its leaves. Keeps
 * no state between calls; never judges a request.
 */

import { fromByteString, toByteString, type ByteString } from '../../base/byte-string.ts';
import { detectLimits } from '../base/detect-limits.ts';
import { isPlainBytes } from './bytes-seen.ts';
import type { Detected, DetectedLeaf, DetectedValue } from './detection.ts';
import { pathOf, type Family, type Hit, type Leaf, type Report } from './detector.ts';
import { scanBytes, scanned } from './leaf-scan.ts';
import { families } from './list.ts';
import { newBudget, type OpenBudget } from './open/leaves.ts';
import { mayOpen, mayOpenPlain, openValue } from './open/open.ts';

const nothing: Detected = { leaves: [], complete: true };

/**
 * Leaves with hits, in the order of the values. Values of letters, digits, `_`, `-` and `.` cost
 * one look at each byte. Limits: `detectLimits`, over all values of a call together.
 */
export function detect(values: readonly DetectedValue[]): Detected {
  let found: DetectedLeaf[] | null = null;
  let budget: OpenBudget | null = null;
  for (let value = 0; value < values.length; value++) {
    const { path, bytes, isName, isData } = values[value]!;
    if (isName !== true && isPlainBytes(bytes) && !mayOpenPlain(bytes)) continue;
    scanBytes(bytes);
    if (!mayOpen() && !mayFind()) continue;
    budget ??= newBudget(bytesOf(values));
    for (const leaf of openValue(toByteString(bytes), path, budget, isData)) {
      const hits = hitsIn(leaf);
      if (hits.length === 0) continue;
      const opened = leaf.parent !== null;
      const own = opened ? fromByteString(leaf.text) : bytes;
      found ??= [];
      found.push({ value, path: pathOf(leaf), bytes: own, opened, hits });
    }
  }
  if (budget === null) return nothing;
  return { leaves: found ?? nothing.leaves, complete: budget.complete };
}

function bytesOf(values: readonly DetectedValue[]): number {
  let sum = 0;
  for (const { bytes } of values) sum += bytes.length;
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
  private readonly counts = new Map<number, number>();

  add(id: number, start: number, end: number): void {
    const count = this.counts.get(id) ?? 0;
    if (count > detectLimits.hitsPerDetectorMax) return;
    this.counts.set(id, count + 1);
    // No number of harmless hits hides the next one: it is taken to be anywhere.
    const isLast = count === detectLimits.hitsPerDetectorMax;
    this.hits.push(isLast ? { id, start: 0, end: this.length } : { id, start, end });
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
function searchesOf({ literals, marks = 0 }: Family, seen: number, found: number): number {
  return literals.length === 0 || (seen & marks) !== 0 ? -1 : found;
}

function hasNeeds({ needs }: Family, seen: number): boolean {
  for (let at = 0; at < needs.length; at++) if ((seen & needs[at]!) === needs[at]!) return true;
  return false;
}
