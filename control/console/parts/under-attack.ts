/** Whether a site challenges every client now: its flag, until its end. */

import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { Site } from '../../../proto/gen/waf/v1/site_pb.ts';

/** Whether the site is under attack; what has an end is over then, though the flag stays. */
export function isUnderAttack({ botProtection: bot }: Site): boolean {
  if (bot?.underAttack !== true) return false;
  const { underAttackUntil: end } = bot;
  return end === undefined || timestampMs(end) > Date.now();
}
