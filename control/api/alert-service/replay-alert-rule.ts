/** AlertService/ReplayAlertRule: runs a condition over the counts of the last day. */

import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { AlertService } from '../../../proto/gen/waf/v1/alert_pb.ts';
import { readCondition } from '../../domain/alert/alert-condition.ts';
import type { CountStep } from '../../domain/alert/alert-facts.ts';
import { replayCondition } from '../../domain/alert/alert-replay.ts';
import { invalidField } from '../../domain/errors.ts';
import { alertLimits } from '../../limits/alert-limits.ts';
import { paced } from '../../observe/paced.ts';
import { callerOf, type Uses } from '../context.ts';
import type { Method } from '../method.ts';

const dayMs = 86_400_000;

/** Replays a condition; nothing is written. */
export function replayAlertRule(
  parts: Uses<'clock' | 'counters'>,
): Method<typeof AlertService, 'replayAlertRule'> {
  return async ({ expression }, context) => {
    const { tenantId } = callerOf(context);
    const condition = readCondition(expression, 'expression');
    if (condition.kind !== 'security_threshold') {
      const problem =
        'only security_threshold can be replayed: states of nodes, certificates, origins and ' +
        'storage are not kept over time';
      throw invalidField('expression.kind', problem);
    }
    const { countStepMs } = alertLimits;
    const nowMs = parts.clock.nowMs();
    // With the step that has only begun.
    const endMs = Math.ceil(nowMs / countStepMs) * countStepMs;
    const startMs = endMs - dayMs;
    const firstMs = startMs - condition.windowSeconds * 1000;
    const steps: CountStep[] = [];
    for await (const step of paced(parts.counters.walkAlertCounts(tenantId, firstMs, endMs))) {
      steps.push(step);
    }
    const found = replayCondition(condition, steps, startMs, endMs);
    return {
      startedAt: timestampFromMs(startMs),
      endedAt: timestampFromMs(nowMs),
      matchingEventCount: BigInt(found.matchingEventCount),
      triggerCount: BigInt(found.triggerCount),
      resolvedCount: BigInt(found.resolvedCount),
      firingNotificationCount: BigInt(found.firingNotificationCount),
      resolvedNotificationCount: BigInt(found.resolvedNotificationCount),
      openAtEnd: found.openAtEnd,
    };
  };
}
