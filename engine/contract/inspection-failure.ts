/**
 * The one value for "inspection failed", whether it ran on the front's own thread or in the pool.
 * It is never a verdict: the front alone decides, by the site's fail policy, what follows.
 */

import { inspectionDeadline, policyAbsent } from '../../base/errors.ts';
import { passVerdict } from './verdict.ts';
import type { InspectionFailure, TransactionRecord, Verdict } from './verdict.ts';

/** A phase without a verdict. */
export interface InspectionFailed {
  readonly action: 'failed';
  readonly reason: InspectionFailure;
}

/** What a phase comes to. */
export type PhaseResult = Verdict | InspectionFailed;

/** The value for each reason. */
export const inspectionFailed: Readonly<Record<InspectionFailure, InspectionFailed>> = {
  deadline: { action: 'failed', reason: 'deadline' },
  queue: { action: 'failed', reason: 'queue' },
  worker: { action: 'failed', reason: 'worker' },
  native: { action: 'failed', reason: 'native' },
  memory: { action: 'failed', reason: 'memory' },
  overload: { action: 'failed', reason: 'overload' },
  policy: { action: 'failed', reason: 'policy' },
  internal: { action: 'failed', reason: 'internal' },
};

/** Codes of errors by what they say of an inspection; all others are `internal`. */
const reasons: Readonly<Record<string, InspectionFailure>> = {
  [inspectionDeadline]: 'deadline',
  [policyAbsent]: 'policy',
  scan_failed: 'native',
  hs_invalid: 'native',
  arena_full: 'memory',
  slab_full: 'memory',
  out_of_memory: 'memory',
  ERR_MEMORY_ALLOCATION_FAILED: 'memory',
};

/** Why inspection failed, by the error that ended it. */
export function failureOf(thrown: unknown): InspectionFailure {
  if (!(thrown instanceof Error)) return 'internal';
  const { code } = thrown as { readonly code?: unknown };
  if (typeof code === 'string') return reasons[code] ?? 'internal';
  // V8 gives allocations that it refuses no code.
  return thrown instanceof RangeError && /allocation failed/.test(thrown.message)
    ? 'memory'
    : 'internal';
}

/** The record of a transaction that was lost. */
export function failedRecord(failure: InspectionFailure): TransactionRecord {
  return {
    verdict: passVerdict,
    matchedRules: [],
    inboundScore: 0,
    outboundScore: 0,
    detectionOnly: false,
    inspectionUs: 0,
    failure,
  };
}
