/** Owns which methods of AgentService are built. Enrolment and what follows from it are not. */

import type { AgentService } from '../../../proto/gen/waf/v1/agent_pb.ts';
import type { ApiParts } from '../context.ts';
import type { Built } from '../method.ts';
import { getConfigBundle, listConfigBundles } from './config-bundles.ts';
import { listNodeMetricSamples } from './metric-samples.ts';
import {
  getAgent,
  getNodeCapabilities,
  getNodeServingState,
  listAgents,
  listNodes,
  retryNodeConfig,
} from './nodes.ts';
import { streamAgentEvents } from './stream-agent-events.ts';

/** AgentService. */
export function agentService(parts: ApiParts): Built<typeof AgentService> {
  return {
    listNodes: listNodes(parts),
    listAgents: listAgents(parts),
    getAgent: getAgent(parts),
    getNodeCapabilities: getNodeCapabilities(parts),
    getNodeServingState: getNodeServingState(parts),
    retryNodeConfig: retryNodeConfig(parts),
    streamAgentEvents: streamAgentEvents(parts),
    listNodeMetricSamples: listNodeMetricSamples(parts),
    listConfigBundles: listConfigBundles(parts),
    getConfigBundle: getConfigBundle(parts),
  };
}
