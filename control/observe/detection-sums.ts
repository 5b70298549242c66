/** Adds up what was counted of an API over a span: by operation, part and result; by kind. Pure. */

import type { DetectionInterval } from './detection-series.ts';

/** Counts of one operation; '' stands for requests that no operation took. */
export interface OperationCounts {
  readonly key: string;
  /** By `<constraint> <result>`, for example `path valid`. */
  readonly counts: ReadonlyMap<string, bigint>;
}

/** Violations of one kind. */
export interface ViolationCount {
  readonly fingerprint: string;
  readonly operationKey: string;
  readonly location: string;
  readonly keyword: string;
  /** JSON pointer into the document. */
  readonly pointer: string;
  readonly count: bigint;
}

/** Sums of a span. */
export interface DetectionSums {
  readonly operations: ReadonlyMap<string, OperationCounts>;
  /** The most frequent first. */
  readonly violations: readonly ViolationCount[];
  /** Counts that found no place of their own, on nodes and here. */
  readonly omitted: bigint;
}

/** What nodes call all kinds past those that they count by themselves. */
const otherFingerprint = 'other';

/** Sums intervals. What is misshapen counts as omitted. */
export function sumDetection(intervals: readonly DetectionInterval[]): DetectionSums {
  const operations = new Map<string, { key: string; counts: Map<string, bigint> }>();
  const violations = new Map<string, ViolationCount>();
  let omitted = 0n;
  for (const interval of intervals) {
    omitted += BigInt(interval.omitted);
    for (const [name, count] of Object.entries(interval.counts)) {
      const [constraint = '', result = '', ...rest] = name.split(' ');
      const key = rest.join(' ');
      let sum = operations.get(key);
      if (sum === undefined) operations.set(key, (sum = { key, counts: new Map() }));
      const place = `${constraint} ${result}`;
      sum.counts.set(place, (sum.counts.get(place) ?? 0n) + BigInt(count));
    }
    for (const [name, count] of Object.entries(interval.violations)) {
      const read = readViolation(name);
      if (read === null) omitted += BigInt(count);
      else {
        const known = violations.get(read.fingerprint)?.count ?? 0n;
        violations.set(read.fingerprint, { ...read, count: known + BigInt(count) });
      }
    }
  }
  const sorted = [...violations.values()].sort(byCount);
  return { operations, violations: sorted, omitted };
}

function byCount(one: ViolationCount, other: ViolationCount): number {
  if (one.count !== other.count) return one.count > other.count ? -1 : 1;
  return one.fingerprint < other.fingerprint ? -1 : 1;
}

/** Null for `other`, and for what is misshapen. */
function readViolation(name: string): Omit<ViolationCount, 'count'> | null {
  const space = name.indexOf(' ');
  const fingerprint = name.slice(0, space);
  if (fingerprint === otherFingerprint) return null;
  try {
    const parts: unknown = JSON.parse(name.slice(space + 1));
    if (!Array.isArray(parts) || parts.some((part) => typeof part !== 'string')) return null;
    const [operationKey = '', location = '', keyword = '', pointer = ''] = parts as string[];
    return { fingerprint, operationKey, location, keyword, pointer };
  } catch {
    // Written by an engine of another release: counted, not shown.
    return null;
  }
}
