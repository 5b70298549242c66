/** AgentService. */

import type { AgentService } from '../../../proto/gen/waf/v1/agent_pb.ts';
import type { ApiParts } from '../context.ts';
import type { Built } from '../method.ts';
import { deleteAgent, updateAgent } from './change-agents.ts';
import { getConfigBundle, listConfigBundles } from './config-bundles.ts';
import { enroll } from './enroll.ts';
import { getNodeInstallStatus, issueEnrollmentToken } from './enrollment-tokens.ts';
import { createNodeInstallation } from './node-installation.ts';
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
    enroll: enroll(parts),
    updateAgent: updateAgent(parts),
    deleteAgent: deleteAgent(parts),
    issueEnrollmentToken: issueEnrollmentToken(parts),
    createNodeInstallation: createNodeInstallation(parts),
    getNodeInstallStatus: getNodeInstallStatus(parts),
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
