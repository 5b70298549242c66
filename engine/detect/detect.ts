/**
 * Values in, leaves with hits out: opens every value and has the families search its leaves. Keeps
 * no state between calls; never judges a request.
 */

import { fromByteString, toByteString, type ByteString } from '../../base/byte-string.ts';
import { detectLimits } from '../base/detect-limits.ts';
import { bytesSeen, isPlain } from './bytes-seen.ts';
import type { Detected, DetectedLeaf, DetectedValue } from './detection.ts';
import { pathOf, type Family, type Hit, type Leaf, type Report } from './detector.ts';
import { families } from './list.ts';
import { newBudget, type OpenBudget } from './open/leaves.ts';
import { mayOpenPlain, openValue } from './open/open.ts';

const nothing: Detected = { leaves: [], complete: true };

/**
 * Leaves with hits, in the order of the values. Values of letters, digits, `_`, `-` and `.` cost
 * one look at each byte. Limits: `detectLimits`, over all values of a call together.
 */
export function detect(values: readonly DetectedValue[]): Detected {
  let found: DetectedLeaf[] | null = null;
  let budget: OpenBudget | null = null;
  for (let value = 0; value < values.length; value++) {
    const { path, bytes } = values[value]!;
    const seen = bytesSeen(bytes);
    if (isPlain(seen) && !mayOpenPlain(bytes)) continue;
    budget ??= newBudget();
    for (const leaf of openValue(toByteString(bytes), seen, path, budget)) {
      const hits = hitsIn(leaf);
      if (hits.length === 0) continue;
      const own = leaf.parent === null ? bytes : fromByteString(leaf.text);
      found ??= [];
      found.push({ value, path: pathOf(leaf), bytes: own, hits });
    }
  }
  if (budget === null) return nothing;
  return { leaves: found ?? nothing.leaves, complete: budget.complete };
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
  for (const family of families) if (searches(family, leaf)) family.find(leaf, report);
  return report.take();
}

function searches(family: Family, leaf: Leaf): boolean {
  if (!family.kinds.includes(leaf.kind)) return false;
  for (const needs of family.needs) if ((leaf.seen & needs) === needs) return true;
  return false;
}
