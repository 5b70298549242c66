/** Owns which methods of AgentService are built. */

import type { AgentService } from '../../../proto/gen/waf/v1/agent_pb.ts';
import type { ApiParts } from '../context.ts';
import type { Built } from '../method.ts';
import { listConfigBundles } from './config-bundles.ts';
import {
  getNodeCapabilities,
  getNodeServingState,
  listAgents,
  listNodes,
  retryNodeConfig,
} from './nodes.ts';

/** AgentService. */
export function agentService(parts: ApiParts): Built<typeof AgentService> {
  return {
    listNodes: listNodes(parts),
    listAgents: listAgents(),
    getNodeCapabilities: getNodeCapabilities(parts),
    getNodeServingState: getNodeServingState(parts),
    retryNodeConfig: retryNodeConfig(parts),
    listConfigBundles: listConfigBundles(parts),
  };
}
