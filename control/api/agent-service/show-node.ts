/** How a node looks to operators: what is stored of it, and what its stream last said. */

import { timestampFromDate, timestampFromMs } from '@bufbuild/protobuf/wkt';
import { AgentSchema, type Agent } from '../../../proto/gen/waf/v1/agent_pb.ts';
import type { AgentRecord } from '../../domain/resource-records.ts';
import { heldNote } from '../../publish/held-policies.ts';
import type { Uses } from '../context.ts';
import { toMessage } from '../convert.ts';
import { statusOf, type NodeState } from '../nodes/node-registry.ts';
import { lastSeenAt, localNodeId } from './known-nodes.ts';

/** A remote node that reports nothing for so long counts as offline: three missed reports. */
const offlineAfterMs = 45_000;

/** The built-in node. */
export function showLocalNode(parts: Uses<'publisher' | 'nodes'>) {
  const state = parts.nodes.get(localNodeId);
  return {
    id: localNodeId,
    name: 'Built-in node',
    placement: 'LOCAL',
    runtime: 'BUILT_IN',
    connectionStatus: state?.connected === true ? 'LOCAL' : 'OFFLINE',
    version: state?.version ?? '',
    os: process.platform,
    arch: process.arch,
    ...servingFacts(parts, state),
    ...seenFact(lastSeenAt(state)),
  };
}

/** An enrolled node as a node. */
export function showRemoteNode(parts: Uses<'clock' | 'publisher' | 'nodes'>, agent: AgentRecord) {
  const state = parts.nodes.get(agent.id);
  const facts = servingFacts(parts, state);
  const online = isOnline(parts, state);
  const applied = state === undefined || statusOf(state) !== 'error';
  return {
    id: agent.id,
    name: agent.name,
    placement: 'REMOTE',
    runtime: 'AGENT',
    connectionStatus: online ? (applied ? 'CONNECTED' : 'DEGRADED') : 'OFFLINE',
    version: state?.version || (agent.version ?? ''),
    addresses: agent.ip === undefined || agent.ip === '' ? [] : [agent.ip],
    tags: agent.tags ?? [],
    os: agent.os ?? '',
    arch: agent.arch ?? '',
    remoteAgent: showAgent(parts, agent),
    ...facts,
    ...seenFact(lastSeenAt(state, agent)),
  };
}

/** An enrolled node as an agent, with its present status. */
export function showAgent(parts: Uses<'clock' | 'nodes'>, agent: AgentRecord): Agent {
  const state = parts.nodes.get(agent.id);
  const online = isOnline(parts, state);
  const failed = state !== undefined && statusOf(state) === 'error';
  const status = online ? (failed ? 'AGENT_STATUS_ERROR' : 'AGENT_STATUS_ONLINE') : undefined;
  const shown = toMessage(AgentSchema, { ...agent, status: status ?? 'AGENT_STATUS_OFFLINE' });
  if (state?.version) shown.version = state.version;
  if (state !== undefined) {
    shown.configHash = state.configHash || shown.configHash;
    const applied = state.apply?.success === true ? state.apply.revision : '0';
    if (applied !== '0') shown.configRevision = BigInt(applied);
    if (state.lastSeenMs > 0) shown.lastHeartbeat = timestampFromMs(state.lastSeenMs);
  }
  const load = state?.load ?? null;
  if (load === null) return shown;
  shown.metrics = load.metrics;
  shown.metricsUpdatedAt = timestampFromMs(load.atMs);
  return shown;
}

function isOnline(parts: Uses<'clock'>, state: NodeState | undefined): boolean {
  if (state?.connected !== true) return false;
  return parts.clock.nowMs() - state.lastSeenMs <= offlineAfterMs;
}

function seenFact(at: string) {
  return at === '' ? {} : { lastSeenAt: timestampFromDate(new Date(at)) };
}

/** What a node serves, and what became of the latest configuration on it. */
function servingFacts(parts: Uses<'publisher'>, state: NodeState | undefined) {
  const current = parts.publisher.current();
  const connected = state?.connected === true;
  const apply = state?.apply ?? null;
  const serves = connected && state.configHash === current?.signed.sha256;
  const note = serves ? heldNote(current?.held ?? []) : '';
  const delivery = state?.delivery ?? null;
  const load = state?.load ?? null;
  const waits = connected && !serves && delivery !== null && apply?.revision !== delivery.revision;
  const result = apply === null ? 'unknown' : apply.success ? 'success' : 'failure';
  return {
    proxyStatus: serves && note === '' ? 'HEALTHY' : connected ? 'DEGRADED' : 'STOPPED',
    configHash: state?.configHash ?? '',
    configRevision: BigInt(apply?.success === true ? apply.revision : 0),
    applyResult: waits ? 'pending' : result,
    applyError: apply?.error || state?.fault || note,
    attemptConfigRevision: BigInt(apply?.revision ?? 0),
    attemptConfigHash: apply?.sha256 ?? '',
    ...(apply === null ? {} : { attemptedAt: timestampFromMs(apply.atMs) }),
    ...(load === null
      ? {}
      : { metrics: load.metrics, metricsUpdatedAt: timestampFromMs(load.atMs) }),
    ...(apply?.success === true ? { appliedAt: timestampFromMs(apply.atMs) } : {}),
  };
}
