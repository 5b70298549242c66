/** AgentService/ListNodes, ListAgents, GetAgent, GetNodeCapabilities and serving states. */

import type { AgentService } from '../../../proto/gen/waf/v1/agent_pb.ts';
import { invalidField, refusal } from '../../domain/errors.ts';
import { actorNote, callerOf, type Uses } from '../context.ts';
import { fitsQuery, pageOf } from '../convert.ts';
import type { Method } from '../method.ts';
import { capabilitiesSha256 } from '../nodes/node-registry.ts';
import { agentsOf, localNodeId, requireNode, storedAgent } from './known-nodes.ts';
import { showAgent, showLocalNode, showRemoteNode } from './show-node.ts';

const connectionStatuses = ['LOCAL', 'CONNECTED', 'DEGRADED', 'OFFLINE'];
const agentStatuses = ['online', 'offline', 'error'];

/** All nodes; the built-in one first. */
export function listNodes(
  parts: Uses<'store' | 'clock' | 'publisher' | 'nodes'>,
): Method<typeof AgentService, 'listNodes'> {
  return ({ query, status: asked, localOnly }, context) => {
    const status = asked.toUpperCase();
    if (status !== '' && !connectionStatuses.includes(status)) {
      throw invalidField('status', `must be one of ${connectionStatuses.join(', ')}`);
    }
    const remote = agentsOf(parts.store, callerOf(context));
    const all = localOnly ? [] : remote.map((agent) => showRemoteNode(parts, agent));
    const fits = (node: { id: string; name: string; connectionStatus: string }): boolean =>
      fitsQuery(query, node.id, node.name) && (status === '' || status === node.connectionStatus);
    const local = showLocalNode(parts);
    return {
      items: [...(fits(local) ? [local] : []), ...all.filter(fits)],
      remoteTotal: BigInt(remote.length),
    };
  };
}

/** Enrolled nodes, by name. */
export function listAgents(
  parts: Uses<'store' | 'clock' | 'nodes'>,
): Method<typeof AgentService, 'listAgents'> {
  return ({ page: asked, query, status: wanted }, context) => {
    const status = wanted.toLowerCase();
    if (status !== '' && !agentStatuses.includes(status)) {
      throw invalidField('status', `must be one of ${agentStatuses.join(', ')}`);
    }
    const found = agentsOf(parts.store, callerOf(context))
      .filter(({ id, name, hostname }) => fitsQuery(query, id, name, hostname))
      .map((agent) => showAgent(parts, agent))
      .filter((agent) => status === '' || agentStatuses[agent.status - 1] === status);
    const { items, page } = pageOf(found, asked);
    return { items: [...items], page };
  };
}

/** One enrolled node. */
export function getAgent(
  parts: Uses<'store' | 'clock' | 'nodes'>,
): Method<typeof AgentService, 'getAgent'> {
  return ({ id }, context) => ({
    agent: showAgent(parts, storedAgent(parts.store, callerOf(context), id, 'id')),
  });
}

/** What the present connection of a node can do; nothing is assumed without one. */
export function getNodeCapabilities(
  parts: Uses<'store' | 'nodes'>,
): Method<typeof AgentService, 'getNodeCapabilities'> {
  return ({ nodeId }, context) => {
    const node = requireNode(parts, callerOf(context), nodeId, 'nodeId');
    const reported = node?.connected === true ? node.capabilities : null;
    if (reported === null) return { nodeId, known: false };
    return {
      nodeId,
      known: true,
      capabilities: reported,
      capabilityRevision: BigInt(node?.connections ?? 0),
      capabilitiesSha256: capabilitiesSha256(reported),
      foundationSupported: false,
    };
  };
}

/** Which configuration a node is to serve, and whether it confirmed that very one. */
export function getNodeServingState(
  parts: Uses<'store' | 'publisher' | 'nodes'>,
): Method<typeof AgentService, 'getNodeServingState'> {
  return ({ nodeId }, context) => {
    const node = requireNode(parts, callerOf(context), nodeId, 'nodeId');
    const current = parts.publisher.current();
    const id = current === null ? '' : `config-${current.revision}`;
    const revision = BigInt(current?.revision ?? 0);
    const grant = node?.grant ?? null;
    const remote = nodeId !== localNodeId;
    const facts = remote
      ? {
          assigned: grant !== null,
          // Receipt of this very grant, whether or not the node serves it yet.
          acknowledged: grant !== null && node?.acknowledged?.sha256 === grant.sha256,
          grantRevision: BigInt(grant?.revision ?? 0),
          grantSha256: grant?.sha256 ?? '',
        }
      : {
          assigned: current !== null,
          acknowledged: current !== null && node?.configHash === current.signed.sha256,
        };
    return {
      nodeId,
      remote,
      ...facts,
      configRevisionId: id,
      generation: revision,
      bundleId: id,
      targetRevision: revision,
      artifactSha256: current?.signed.sha256 ?? '',
      siteIds: facts.assigned ? [...(current?.siteIds ?? [])] : [],
      publishing: parts.publisher.progress().waiting,
    };
  };
}

/**
 * Delivers the latest configuration again: to the built-in node always, where policies that are
 * held back are tried again; to another only where it failed or was never answered.
 */
export function retryNodeConfig(
  parts: Uses<'store' | 'publisher' | 'nodes' | 'streams'>,
): Method<typeof AgentService, 'retryNodeConfig'> {
  return async ({ nodeId }, context) => {
    const caller = callerOf(context);
    const node = requireNode(parts, caller, nodeId, 'nodeId');
    if (node?.connected !== true) {
      throw refusal('failed_precondition', 'nodeId: the node is not connected');
    }
    if (parts.nodes.isElsewhere(nodeId)) {
      const reason = 'the node is connected to another controller: retry there';
      throw refusal('failed_precondition', `nodeId: ${reason}`);
    }
    const current = parts.publisher.current();
    const serves = node.apply?.success === true && node.configHash === current?.signed.sha256;
    const changed = nodeId === localNodeId || !serves;
    const note = { ...actorNote(caller), action: 'retry_config', resourceType: 'node' };
    const configRevision = current?.revision ?? '0';
    await parts.store.write((tx) =>
      tx.audit({ ...note, resourceId: nodeId, metadata: { configRevision } }),
    );
    if (nodeId === localNodeId) await parts.publisher.redeliver();
    else if (changed) parts.streams.deliver(nodeId);
    const revision = BigInt(parts.publisher.current()?.revision ?? 0);
    return { result: { id: nodeId, revision, changed } };
  };
}
