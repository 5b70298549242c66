/**
 * Counts what checks found, exactly, in intervals of 10 seconds: by operation, part and result; and
 * which kinds of violations there were, in bounded number. No value of a request is part of a key.
 */

import { fingerprintOf, textOfKind } from '../../base/check-fingerprint.ts';
import { schemaLimits } from '../../base/schema-limits.ts';
import { apiCountKey, otherFingerprint, type ApiCountDelta } from '../contract/api-counts.ts';
import type { ApiChecks } from '../contract/api-checks.ts';
import { constraints, RESULT, type Finding, type Result } from './finding.ts';

/** What is counted of a request. */
export interface CountedRun {
  /** Index of the operation, after them of the body control; -1 for an undeclared one. */
  readonly operation: number;
  readonly results: readonly Result[];
  readonly finding: Finding | null;
}

const resultNames = ['', 'valid', 'violation', 'not_evaluated'] as const;
const kinds = constraints.length * resultNames.length;

/** Counts of one site under one configuration in one interval. */
interface Interval {
  readonly checks: ApiChecks;
  /** Number of the interval: milliseconds since the Unix epoch, divided by its length. */
  readonly number: number;
  /** By operation: requests, then constraints by results. */
  readonly operations: Map<number, Float64Array>;
  readonly fingerprints: Map<string, number>;
}

/** Counts of one thread. */
export class CheckCounts {
  /** Requests end in another order than they began in: several intervals are open at a time. */
  private open = new Map<ApiChecks, Map<number, Interval>>();

  add(checks: ApiChecks, { operation, results, finding }: CountedRun, nowMs: number): void {
    const interval = this.intervalOf(checks, Math.floor(nowMs / schemaLimits.countIntervalMs));
    let counts = interval.operations.get(operation);
    if (counts === undefined) {
      interval.operations.set(operation, (counts = new Float64Array(1 + kinds)));
    }
    counts[0]!++;
    for (let at = 0; at < results.length; at++) {
      counts[1 + at * resultNames.length + results[at]!]!++;
    }
    if (finding?.result === RESULT.VIOLATION) addFingerprint(interval, operation, finding);
  }

  /** A further thing that was found of a request which is counted by itself. */
  addViolation(checks: ApiChecks, operation: number, finding: Finding | null, nowMs: number): void {
    if (finding?.result !== RESULT.VIOLATION) return;
    const interval = this.intervalOf(checks, Math.floor(nowMs / schemaLimits.countIntervalMs));
    addFingerprint(interval, operation, finding);
  }

  /** What was counted since the last call; [] when there was nothing. */
  drain(): ApiCountDelta[] {
    const intervals = [...this.open.values()].flatMap((byNumber) => [...byNumber.values()]);
    this.open = new Map();
    return intervals.map(deltaOf);
  }

  private intervalOf(checks: ApiChecks, number: number): Interval {
    let byNumber = this.open.get(checks);
    if (byNumber === undefined) this.open.set(checks, (byNumber = new Map()));
    const known = byNumber.get(number);
    if (known !== undefined) return known;
    const fresh = { checks, number, operations: new Map(), fingerprints: new Map() };
    byNumber.set(number, fresh);
    return fresh;
  }
}

function keyOf({ operations, bodyControls }: ApiChecks, index: number): string {
  const control = bodyControls.operations[index - operations.length];
  return operations[index]?.key ?? control?.key ?? '';
}

function addFingerprint(
  { checks, fingerprints }: Interval,
  operation: number,
  found: Finding,
): void {
  const { location, keyword, pointer } = found;
  const operationKey = keyOf(checks, operation);
  const text = textOfKind({ operationKey, location, keyword, pointer });
  const full = fingerprints.size >= schemaLimits.fingerprintsMax && !fingerprints.has(text);
  const place = full ? otherFingerprint : text;
  fingerprints.set(place, (fingerprints.get(place) ?? 0) + 1);
}

function deltaOf({ checks, number, operations, fingerprints }: Interval): ApiCountDelta {
  const { siteId, contractId, bindingId } = checks;
  const entries = new Map<string, number>();
  for (const [index, counts] of operations) {
    const operation = keyOf(checks, index);
    if (index < 0) entries.set(apiCountKey('', 'operation', 'undeclared'), counts[0]!);
    else entries.set(apiCountKey(operation, 'operation', 'requests'), counts[0]!);
    constraints.forEach((constraint, at) => {
      resultNames.forEach((name, result) => {
        const count = counts[1 + at * resultNames.length + result]!;
        if (name !== '' && count > 0) entries.set(apiCountKey(operation, constraint, name), count);
      });
    });
  }
  const violations = [...fingerprints].map(([text, count]) => ({
    fingerprint: text === otherFingerprint ? text : fingerprintOf(text),
    text,
    count,
  }));
  const startMs = number * schemaLimits.countIntervalMs;
  return { siteId, contractId, bindingId, startMs, entries, violations };
}
