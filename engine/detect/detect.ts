/**
 * Values in, leaves with hits out: opens every value and has the families search its leaves. Keeps
 * no state between calls; never judges a request.
 */

import { fromByteString, toByteString, type ByteString } from '../../base/byte-string.ts';
import { detectLimits } from '../base/detect-limits.ts';
import { bytesSeen, isPlain } from './bytes-seen.ts';
import { pathOf, type Family, type Hit, type Leaf, type Report } from './detector.ts';
import { families } from './list.ts';
import { mayOpenPlain, openValue, type OpenBudget } from './open/open.ts';

/** A value of a request, as it came or decoded once. */
export interface ValueToDetect {
  /** As people read it: `args.q`. */
  readonly path: string;
  readonly bytes: Uint8Array;
}

/** A leaf in which something was found. */
export interface FoundLeaf {
  /** Index of the value that it is a leaf of. */
  readonly value: number;
  /** For example `args.q → base64`. */
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly hits: readonly Hit[];
}

const nothing: readonly FoundLeaf[] = [];

/**
 * Leaves with hits, in the order of the values. Values of letters, digits, `_`, `-` and `.` cost
 * one look at each byte. Limits: `detectLimits`, over all values of a call together.
 */
export function detect(values: readonly ValueToDetect[]): readonly FoundLeaf[] {
  let found: FoundLeaf[] | null = null;
  let budget: OpenBudget | null = null;
  for (let value = 0; value < values.length; value++) {
    const { path, bytes } = values[value]!;
    const seen = bytesSeen(bytes);
    if (isPlain(seen) && !mayOpenPlain(bytes)) continue;
    budget ??= { leaves: detectLimits.leavesMax, bytes: detectLimits.leafBytesMax };
    for (const leaf of openValue(toByteString(bytes), seen, path, budget)) {
      const hits = hitsIn(leaf);
      if (hits.length === 0) continue;
      const own = leaf.parent === null ? bytes : fromByteString(leaf.text);
      found ??= [];
      found.push({ value, path: pathOf(leaf), bytes: own, hits });
    }
  }
  return found ?? nothing;
}

/** The leaves of one text, also those without hits; for tests and explanations. */
export function detectText(text: ByteString, path = 'value'): readonly FoundLeaf[] {
  return detect([{ path, bytes: fromByteString(text) }]);
}

const report = new (class implements Report {
  hits: Hit[] = [];
  private readonly counts = new Map<number, number>();

  add(id: number, start: number, end: number): void {
    const count = this.counts.get(id) ?? 0;
    if (count >= detectLimits.hitsPerDetectorMax) return;
    this.counts.set(id, count + 1);
    this.hits.push({ id, start, end });
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
  for (const family of families) if (searches(family, leaf)) family.find(leaf, report);
  return report.take();
}

function searches(family: Family, leaf: Leaf): boolean {
  if (!family.kinds.includes(leaf.kind)) return false;
  for (const needs of family.needs) if ((leaf.seen & needs) === needs) return true;
  return false;
}
