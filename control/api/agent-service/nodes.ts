/** Owns AgentService/ListNodes, ListAgents, GetNodeServingState, RetryNodeConfig and bundles. */

import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { AgentService } from '../../../proto/gen/waf/v1/agent_pb.ts';
import { notFound, refusal } from '../../domain/errors.ts';
import { sites } from '../../store/collections.ts';
import type { ApiParts } from '../context.ts';
import { fitsQuery, pageOf, requireText } from '../convert.ts';
import type { Method } from '../method.ts';
import type { NodeState } from '../node-registry.ts';

const localNodeId = 'local';

/** All nodes; the built-in one always among them. */
export function listNodes(parts: ApiParts): Method<typeof AgentService, 'listNodes'> {
  return ({ query, status }) => {
    const node = showLocalNode(parts);
    const fits =
      fitsQuery(query, node.id, node.name) &&
      (status === '' || status.toUpperCase() === node.connectionStatus);
    return { items: fits ? [node] : [], remoteTotal: 0n };
  };
}

/** Enrolled nodes; enrolment is not built, so there are none. */
export function listAgents(): Method<typeof AgentService, 'listAgents'> {
  return ({ page }) => ({ items: [], page: pageOf([], page).page });
}

/** What the present connection of a node can do. */
export function getNodeCapabilities(
  parts: ApiParts,
): Method<typeof AgentService, 'getNodeCapabilities'> {
  return ({ nodeId }) => {
    const node = knownNode(parts, nodeId);
    return { nodeId, known: node?.connected === true, foundationSupported: false };
  };
}

/** Which configuration a node may serve, and what it confirmed. */
export function getNodeServingState(
  parts: ApiParts,
): Method<typeof AgentService, 'getNodeServingState'> {
  return ({ nodeId }) => {
    const node = knownNode(parts, nodeId);
    const current = parts.publisher.current();
    const served = parts.store
      .list(sites)
      .filter((site) => site.status === 'RESOURCE_STATUS_ACTIVE');
    return {
      nodeId,
      remote: false,
      assigned: current !== null,
      acknowledged: current !== null && node?.configHash === current.signed.sha256,
      configRevisionId: current === null ? '' : `config-${current.revision}`,
      generation: BigInt(current?.revision ?? 0),
      bundleId: current === null ? '' : `config-${current.revision}`,
      targetRevision: BigInt(current?.revision ?? 0),
      artifactSha256: current?.signed.sha256 ?? '',
      siteIds: served.map(({ id }) => id),
    };
  };
}

/** Delivers the latest configuration again. */
export function retryNodeConfig(parts: ApiParts): Method<typeof AgentService, 'retryNodeConfig'> {
  return ({ nodeId }) => {
    const node = knownNode(parts, nodeId);
    if (node?.connected !== true) {
      throw refusal('failed_precondition', 'nodeId: the node is not connected');
    }
    parts.publisher.redeliver();
    const revision = BigInt(parts.publisher.current()?.revision ?? 0);
    return { result: { id: nodeId, revision, changed: true } };
  };
}

function knownNode(parts: ApiParts, nodeId: string): NodeState | undefined {
  if (requireText(nodeId, 'nodeId') !== localNodeId) throw notFound('node');
  return parts.nodes.get(localNodeId);
}

function showLocalNode(parts: ApiParts) {
  const state = parts.nodes.get(localNodeId);
  const current = parts.publisher.current();
  const connected = state?.connected === true;
  const serving = connected && state.configHash === current?.signed.sha256;
  const apply = state?.apply ?? null;
  const seen = state === undefined ? {} : { lastSeenAt: timestampFromMs(state.lastSeenMs) };
  const attempted = apply === null ? {} : { attemptedAt: timestampFromMs(apply.atMs) };
  const appliedAt = apply?.success === true ? { appliedAt: timestampFromMs(apply.atMs) } : {};
  return {
    id: localNodeId,
    name: 'Built-in node',
    placement: 'LOCAL',
    runtime: 'BUILT_IN',
    connectionStatus: connected ? 'LOCAL' : 'OFFLINE',
    proxyStatus: serving ? 'HEALTHY' : connected ? 'DEGRADED' : 'STOPPED',
    configHash: state?.configHash ?? '',
    configRevision: BigInt(apply?.success === true ? apply.revision : 0),
    version: state?.version ?? '',
    os: process.platform,
    arch: process.arch,
    applyResult: apply === null ? 'unknown' : apply.success ? 'success' : 'failure',
    applyError: apply?.error ?? '',
    attemptConfigRevision: BigInt(apply?.revision ?? 0),
    attemptConfigHash: apply?.sha256 ?? '',
    ...seen,
    ...attempted,
    ...appliedAt,
  };
}
