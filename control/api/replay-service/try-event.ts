/** Tries the request of a security event, made anew from its matched values, under two policies. */

import { create } from '@bufbuild/protobuf';
import {
  ReplayRebuiltSchema,
  type ReplayRebuilt,
} from '../../../proto/gen/waf/replay/v1/replay_pb.ts';
import type { Caller } from '../../auth/permissions.ts';
import { isEventId } from '../../observe/events/event-id.ts';
import { rebuildRequest } from '../../observe/evidence/rebuilt-request.ts';
import type { Uses } from '../context.ts';
import type { PolicyForEngine } from '../engine-client.ts';
import { requireOurs } from '../resource/owned.ts';
import type { Compared } from './draft.ts';
import { verdictOf } from './replay-outcome.ts';

/**
 * What both policies make of it; null where the event does not say enough, its request is not
 * inspected to the end, or the rules do not compile. Errors: not_found, also for events of other
 * tenants.
 */
export async function tryEvent(
  parts: Uses<'events' | 'engine'>,
  caller: Caller,
  id: string,
  compared: Compared,
  signal: AbortSignal,
): Promise<ReplayRebuilt | null> {
  const found = isEventId(id)
    ? await parts.events.ask({ ask: 'get', kind: 'security', id }, signal)
    : null;
  const event = requireOurs(found, caller, 'security event', id);
  const { siteId = '' } = event;
  const made = rebuildRequest(event);
  if (made === null) return null;
  const { head, body, clientIp, leftOut } = made;
  const requests = [{ siteId, head, body, clientIp, peerIp: clientIp }];
  const evaluate = (policy: PolicyForEngine) =>
    parts.engine.evaluateBatch(policy, requests, signal);
  const [was] = (await evaluate(compared.before(siteId))).answers;
  const [is] = (await evaluate(compared.after(siteId))).answers;
  if (was === undefined || is === undefined || was.failure !== '' || is.failure !== '') return null;
  const shown = ({ ruleIds, ...rest }: ReturnType<typeof verdictOf>) => ({
    ...rest,
    ruleIds: [...ruleIds],
  });
  return create(ReplayRebuiltSchema, {
    before: shown(verdictOf(was)),
    after: shown(verdictOf(is)),
    leftOut: [...leftOut],
  });
}
