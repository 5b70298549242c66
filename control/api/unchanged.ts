/** The rule that a change is made from what its caller read, where there are no revisions. */

import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { Clock } from '../../base/clock.ts';
import { refusal } from '../domain/errors.ts';

/** What changes carry their time of. */
interface Changed {
  /** RFC 3339. */
  readonly updatedAt?: string;
}

/**
 * Errors: aborted when the resource changed since the caller read it. Absent `expected` is not
 * checked; the epoch stands for a resource that is not there.
 */
export function requireUnchanged(
  expected: Timestamp | undefined,
  stored: Changed | undefined,
): void {
  if (expected === undefined || timestampMs(expected) === changedAtMs(stored)) return;
  throw refusal('aborted', 'expectedUpdatedAt: it changed since; read it again');
}

/** Time of a change, RFC 3339: now, and always later than that of the change before. */
export function nextUpdate(before: Changed | undefined, clock: Pick<Clock, 'nowMs'>): string {
  return new Date(Math.max(clock.nowMs(), changedAtMs(before) + 1)).toISOString();
}

function changedAtMs(stored: Changed | undefined): number {
  return stored?.updatedAt === undefined ? 0 : Date.parse(stored.updatedAt);
}
