/** Which finished requests are errors of ours or of an origin, and what is logged of them. */

import type { RequestEvent } from './events.ts';
import { isIncomplete } from './verdict.ts';

/** One error. */
export interface RequestError {
  readonly level: 'error' | 'warn';
  /** The part that failed or refused. */
  readonly logger: 'upstream' | 'http' | 'inspection' | 'engine';
  /** Stable code. */
  readonly reason: string;
  /** Holds nothing from outside. */
  readonly message: string;
}

/** Failures that are no fault of the inspection, where the fail policy is `closed`. */
const unanswered: Readonly<Record<string, string>> = {
  overload: 'The node is overloaded and did not inspect the request; it got 503.',
  policy: "The site's policy does not serve yet, or does not compile; the request got 503.",
};

/** The same, where it is `open`. */
const letThrough: Readonly<Record<string, string>> = {
  overload: 'The node is overloaded; the fail policy let the request through without inspection.',
  policy:
    "The site's policy does not serve yet, or does not compile; the fail policy let the request " +
    'through without inspection.',
};

/** The error of a request; null for one that was served or blocked as it should be. */
export function errorOf({ outcome, refusal, transaction }: RequestEvent): RequestError | null {
  const reason = refusal ?? '';
  if (outcome === 'origin_error') {
    const message = `No valid answer from the origin (${reason}).`;
    return { level: 'error', logger: 'upstream', reason, message };
  }
  if (outcome === 'refused') {
    const message = `The request was refused (${reason}).`;
    return { level: 'warn', logger: 'http', reason, message };
  }
  if (outcome === 'inspection_failed') {
    const cause = transaction?.failure ?? reason;
    const message = unanswered[cause] ?? `Inspection failed (${cause}); the request got 503.`;
    return { level: 'error', logger: 'inspection', reason: cause, message };
  }
  if (transaction === null || !isIncomplete(transaction)) return null;
  const { failure, limitsReached = [], pcreLimitedRules = [] } = transaction;
  if (failure !== undefined) {
    const passed = outcome !== 'blocked' && outcome !== 'challenged';
    const message = passed
      ? (letThrough[failure] ??
        `Inspection failed (${failure}); the fail policy let the request through.`)
      : `Inspection failed (${failure}) after the request was refused.`;
    return { level: 'error', logger: 'inspection', reason: failure, message };
  }
  const rules = pcreLimitedRules.map(String).join(' ');
  const found = rules === '' ? limitsReached.join(' ') : `match limit of rules ${rules}`;
  const message = `The request was not inspected whole (${found}).`;
  const code = rules === '' ? (limitsReached[0] ?? '') : 'match_limit';
  return { level: 'warn', logger: 'inspection', reason: code, message };
}
