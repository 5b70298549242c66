/** AgentService/StreamAgentEvents: what happens to nodes from now on; nothing is replayed. */

import type { JsonObject } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { AgentService } from '../../../proto/gen/waf/v1/agent_pb.ts';
import { observationLimits } from '../../limits/observation-limits.ts';
import { agents } from '../../store/collections.ts';
import { callerOf, type Uses } from '../context.ts';
import type { Method } from '../method.ts';
import type { NodeEvent } from '../nodes/node-registry.ts';
import { isNodeOf, requireNode } from './known-nodes.ts';
import { showAgent } from './show-node.ts';

/** Events of one node, or of all; a reader that is too slow misses the oldest. */
export function streamAgentEvents(
  parts: Uses<'store' | 'clock' | 'nodes'>,
): Method<typeof AgentService, 'streamAgentEvents'> {
  return async function* ({ agentId }, context) {
    const caller = callerOf(context);
    if (agentId !== '') requireNode(parts, caller, agentId, 'agentId');
    const waiting: NodeEvent[] = [];
    let wake = (): void => undefined;
    const undo = parts.nodes.subscribe((event) => {
      if (agentId !== '' && event.nodeId !== agentId) return;
      if (event.tenantId !== caller.tenantId && !isNodeOf(parts.store, caller, event.nodeId))
        return;
      if (waiting.length >= observationLimits.tailWaitingMax) waiting.shift();
      waiting.push(event);
      wake();
    });
    const stop = (): void => wake();
    context.signal.addEventListener('abort', stop);
    try {
      while (!context.signal.aborted) {
        const event = waiting.shift();
        if (event !== undefined) yield show(parts, event);
        else await new Promise<void>((resolve) => (wake = resolve));
      }
    } finally {
      undo();
      context.signal.removeEventListener('abort', stop);
    }
  };
}

function show(
  parts: Uses<'store' | 'clock' | 'nodes'>,
  { nodeId, kind, atMs, payload }: NodeEvent,
) {
  const agent = parts.store.get(agents, nodeId);
  return {
    event: {
      agentId: nodeId,
      kind,
      createdAt: timestampFromMs(atMs),
      payload: { ...payload } as JsonObject,
    },
    ...(agent === undefined ? {} : { agent: showAgent(parts, agent) }),
  };
}
