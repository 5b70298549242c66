/**
 * Who a stream's other end is: the built-in node on the administration socket, or an enrolled node
 * by certificate and token together. What fails is logged; the answer tells no part from the
 * others.
 */

import { createHash, timingSafeEqual } from 'node:crypto';
import type { HandlerContext } from '@connectrpc/connect';
import { refusal } from '../../domain/errors.ts';
import type { AgentRecord } from '../../domain/resource-records.ts';
import { defaultTenantId } from '../../domain/records.ts';
import { callLimits } from '../../limits/call-limits.ts';
import { agentIdentities, agents } from '../../store/collections.ts';
import { addressKey, entranceKey, peerKey, type Uses } from '../context.ts';
import { localNodeId } from '../agent-service/known-nodes.ts';

/** What a node says of itself. */
export interface NodeClaim {
  readonly agentId: string;
  readonly streamToken: string;
  /** Of its supervisor; '' where it does not say. */
  readonly runId?: string;
}

/** Who a node is. */
export interface AdmittedNode {
  readonly id: string;
  readonly tenantId: string;
  /** Null for the built-in node. */
  readonly agent: AgentRecord | null;
  /** Of the token that it proved itself with; '' for the built-in node. */
  readonly tokenSha256: string;
}

/** SHA-256 of a secret as it is kept, hex. */
export function hashSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

/** Whether a secret is the one that is kept as `sha256`. Takes as long for every secret. */
export function isSecret(secret: string, sha256: string): boolean {
  const [a, b] = [Buffer.from(hashSecret(secret)), Buffer.from(sha256)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Errors: permission_denied; failed_precondition while another run of the node is connected. */
export function admitNode(
  parts: Uses<'store' | 'clock' | 'logger' | 'nodes' | 'streams'>,
  { agentId, streamToken, runId = '' }: NodeClaim,
  context: HandlerContext,
): AdmittedNode {
  if (context.values.get(entranceKey) === 'socket') {
    if (agentId === localNodeId) {
      return { id: localNodeId, tenantId: defaultTenantId, agent: null, tokenSha256: '' };
    }
    return refuse(parts, context, agentId, 'the socket is for the built-in node');
  }
  const agent = certifiedNode(parts, context);
  if (agent.id !== agentId) return refuse(parts, context, agentId, 'its certificate is another');
  const known = parts.store.get(agentIdentities, agent.id)?.streamTokenSha256 ?? '';
  if (!isSecret(streamToken, known)) {
    return refuse(parts, context, agentId, 'its token is wrong');
  }
  context.values.get(peerKey)?.prove();
  refuseSecondRun(parts, agentId, runId);
  return { id: agent.id, tenantId: agent.tenantId, agent, tokenSha256: known };
}

/** Whether the open stream of one run keeps another out; '' stands for none, or for one unnamed. */
export function isKeptOut(open: string, runId: string, silentMs: number): boolean {
  if (runId === '' || open === '' || open === runId) return false;
  return silentMs <= callLimits.nodeSilenceMs;
}

/** A copy of a data folder has the node's secrets: the run that is connected keeps the identity. */
function refuseSecondRun(
  { streams, nodes, clock, logger }: Uses<'clock' | 'logger' | 'nodes' | 'streams'>,
  nodeId: string,
  runId: string,
): void {
  const silentMs = clock.nowMs() - (nodes.get(nodeId)?.lastSeenMs ?? 0);
  if (!isKeptOut(streams.runOf(nodeId), runId, silentMs)) return;
  logger.warn('a second process with the identity of a connected node was refused', {
    node: nodeId,
  });
  throw refusal(
    'failed_precondition',
    'hello.runId: another process is connected as this node. If its data folder was copied, ' +
      'enroll this machine with a token of its own (waf agent enroll --again)',
  );
}

/** The enrolled node whose certificate the connection proved. Errors: permission_denied. */
export function certifiedNode(
  parts: Uses<'store' | 'clock' | 'logger'>,
  context: HandlerContext,
): AgentRecord {
  const found = nodeOfConnection(parts, context.values.get(peerKey)?.node ?? null);
  if (typeof found !== 'string') return found;
  return refuse(parts, context, context.values.get(peerKey)?.node?.nodeId ?? '', found);
}

/** The enrolled node of a connection, or why there is none. */
export function nodeOfConnection(
  parts: Uses<'store' | 'clock'>,
  certificate: { readonly nodeId: string; readonly sha256: string; readonly endMs: number } | null,
): AgentRecord | string {
  if (certificate === null) return 'it shows no certificate of a node';
  const { nodeId, sha256, endMs } = certificate;
  const agent = parts.store.get(agents, nodeId);
  const identity = parts.store.get(agentIdentities, nodeId);
  if (agent === undefined || identity === undefined) return 'it is not enrolled any more';
  if (!identity.certificatesSha256.includes(sha256)) return 'its certificate was replaced';
  if (parts.clock.nowMs() >= endMs) return 'its certificate has ended';
  return agent;
}

function refuse(
  parts: Uses<'logger'>,
  context: HandlerContext,
  agentId: string,
  reason: string,
): never {
  const address = context.values.get(addressKey);
  parts.logger.warn('a node was refused', { node: agentId.slice(0, 64), address, reason });
  throw refusal('permission_denied', 'hello: this node is not enrolled');
}
