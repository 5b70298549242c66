/** ShadowService: a ruleset that inspects live traffic beside the one that decides. */

import type { ShadowService } from '../../../proto/gen/waf/shadow/v1/shadow_pb.ts';
import type { Uses } from '../context.ts';
import type { Built } from '../method.ts';
import { getShadowRun, startShadowRun, stopShadowRun } from './shadow-runs.ts';

/** ShadowService. */
export function shadowService(
  parts: Uses<'store' | 'clock' | 'logger' | 'engine' | 'counters'>,
): Built<typeof ShadowService> {
  return {
    startShadowRun: startShadowRun(parts),
    getShadowRun: getShadowRun(parts),
    stopShadowRun: stopShadowRun(parts),
  };
}
