/** GuardService: what rules of guards did. */

import type { GuardService } from '../../../proto/gen/waf/guard/v1/guard_pb.ts';
import type { Uses } from '../context.ts';
import type { Built } from '../method.ts';
import { listRuleHits } from './list-rule-hits.ts';

/** GuardService. */
export function guardService(parts: Uses<'counters'>): Built<typeof GuardService> {
  return { listRuleHits: listRuleHits(parts) };
}
