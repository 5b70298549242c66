/** PolicyService/SetEngineState. */

import {
  EngineState,
  PolicySchema,
  type EngineStateJson,
  type PolicyService,
} from '../../../proto/gen/waf/v1/policy_pb.ts';
import { invalidField } from '../../domain/errors.ts';
import { callerOf, type Uses } from '../context.ts';
import { requireRevision, toMessage } from '../convert.ts';
import type { Method } from '../method.ts';
import { refuseTemplate, savePolicy, storedPolicy } from './stored-policy.ts';

const names = new Map<EngineState, EngineStateJson>([
  [EngineState.ON, 'ENGINE_STATE_ON'],
  [EngineState.DETECTION_ONLY, 'ENGINE_STATE_DETECTION_ONLY'],
  [EngineState.OFF, 'ENGINE_STATE_OFF'],
]);

/** Switches a policy. */
export function setEngineState(
  parts: Uses<'store' | 'clock'>,
): Method<typeof PolicyService, 'setEngineState'> {
  return async (request, context) => {
    const caller = callerOf(context);
    const engineState = names.get(request.engineState);
    if (engineState === undefined) {
      throw invalidField('engineState', `must be one of ${[...names.values()].join(', ')}`);
    }
    const saved = await parts.store.write((tx) => {
      const before = storedPolicy(tx, caller, request.policyId, 'policyId');
      refuseTemplate(before);
      requireRevision(request.revision, before.revision);
      const changed = { ...before, engineState };
      return savePolicy(tx, caller, before, changed, parts.clock.nowMs(), 'set_engine_state');
    });
    return { policy: toMessage(PolicySchema, saved) };
  };
}
