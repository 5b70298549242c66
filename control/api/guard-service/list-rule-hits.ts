/** GuardService/ListRuleHits. */

import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { GuardService } from '../../../proto/gen/waf/guard/v1/guard_pb.ts';
import { callerOf, type Uses } from '../context.ts';
import type { Method } from '../method.ts';

/** The counts of the rules that were asked for; a rule that never decided has none. */
export function listRuleHits({
  counters,
}: Uses<'counters'>): Method<typeof GuardService, 'listRuleHits'> {
  return ({ ruleIds }, context) => {
    const { tenantId } = callerOf(context);
    const items = ruleIds.map((ruleId) => {
      const found = counters.guardRuleHits(tenantId, ruleId);
      if (found === null) return { ruleId };
      const { hits, lastMs } = found;
      return { ruleId, hits: BigInt(hits), lastHitAt: timestampFromMs(lastMs) };
    });
    return { items };
  };
}
