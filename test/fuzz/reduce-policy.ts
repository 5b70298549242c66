/**
 * Makes a failing policy small: pieces are left out as long as it still fails. Knows nothing
 * of engines.
 */

import type { PolicyPieces } from './crs-policies.ts';

/**
 * The fewest pieces found that still fail. `fails` is false for what does not link; no more is
 * tried when `deadlineMs` (of Date.now) has passed. Cost: some tens of calls.
 */
export function reducePolicy(
  pieces: PolicyPieces,
  fails: (fewer: PolicyPieces) => boolean,
  deadlineMs: number,
): PolicyPieces {
  let left = pieces;
  for (let size = Math.ceil(left.length / 2); size > 0; size = Math.floor(size / 2)) {
    for (let at = left.length - size; at > -size; at -= size) {
      if (Date.now() > deadlineMs) return left;
      const from = Math.max(0, at);
      const fewer = [...left.slice(0, from), ...left.slice(at + size)];
      if (fewer.length < left.length && fails(fewer)) left = fewer;
    }
  }
  return left;
}
