/** Whether an approval that comes back still says what would be approved now. */

import type { OperationControlReviewJson } from '../../../proto/gen/waf/v1/operation_control_pb.ts';
import { canonicalJson } from '../../domain/canonical-json.ts';
import { refusal } from '../../domain/errors.ts';

/** An approval of any kind, as JSON. */
export interface SentApproval {
  readonly review?: OperationControlReviewJson;
}

/** Fields of a review that changes of other sites move; what concerns this site is compared. */
const movingAlone = new Set(['baseGeneration']);

/** Errors: aborted, naming the first field in which an approval is not what is there now. */
export function requireCurrent(sent: SentApproval, now: SentApproval): void {
  const stale = firstDifference(sent, now);
  if (stale === '') return;
  const message = `approval.${stale}: is not what is there now; preview again and review it`;
  throw refusal('aborted', message);
}

function firstDifference(sent: SentApproval, now: SentApproval): string {
  const [one, other] = [new Map(Object.entries(sent)), new Map(Object.entries(now))];
  for (const name of [...new Set([...one.keys(), ...other.keys()])].sort()) {
    if (name === 'review') {
      const found = reviewDifference(sent.review ?? {}, now.review ?? {});
      if (found !== '') return `review.${found}`;
    } else if (canonicalJson(one.get(name) ?? null) !== canonicalJson(other.get(name) ?? null)) {
      return name;
    }
  }
  return '';
}

function reviewDifference(sent: object, now: object): string {
  const [one, other] = [new Map(Object.entries(sent)), new Map(Object.entries(now))];
  const names = [...new Set([...one.keys(), ...other.keys()])].sort();
  return names.find((name) => !movingAlone.has(name) && one.get(name) !== other.get(name)) ?? '';
}
