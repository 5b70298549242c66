/**
 * AgentStreamService/Connect on the controller's side: hello, welcome, configurations down,
 * results and observations up. The built-in node is accepted on the administration socket only,
 * enrolled ones on the management listener only.
 */

import { create, type MessageInitShape } from '@bufbuild/protobuf';
import type { HandlerContext } from '@connectrpc/connect';
import {
  ConnectResponseSchema,
  type AgentApplyResult,
  type AgentHello,
  type AgentInterimResult,
  type AgentMetricsPush,
  type AgentServingGrantAck,
  type AgentStreamService,
  type ConnectRequest,
} from '../../../proto/gen/waf/v1/agent_stream_pb.ts';
import type { AgentMetrics } from '../../../proto/gen/waf/v1/agent_pb.ts';
import type { UpstreamHealthState } from '../../../proto/gen/waf/v1/upstream_pb.ts';
import { callLimits } from '../../limits/call-limits.ts';
import { observationLimits } from '../../limits/observation-limits.ts';
import {
  metricPayloadVersion,
  observationProtocolVersion,
  ownCapabilities,
  versionMismatch,
} from '../../../base/protocol-versions.ts';
import { readPolicyFaults } from '../../../base/policy-faults.ts';
import { refusal } from '../../domain/errors.ts';
import { publicationRow } from '../../publish/publication-log.ts';
import type { Publication } from '../../publish/publisher.ts';
import type { NodeDelivery } from '../../store/collections.ts';
import { peerKey, type ApiParts, type Uses } from '../context.ts';
import { localNodeId } from '../agent-service/known-nodes.ts';
import { toReading } from '../agent-service/metric-samples.ts';
import { admitNode, type AdmittedNode } from '../nodes/admit-node.ts';
import { grantFor } from '../nodes/serving-grant.ts';
import type { Method } from '../method.ts';
import { overloadSince } from '../nodes/node-overload.ts';
import { BatchOrder } from './batch-order.ts';
import { breachOf } from './breach.ts';
import { Outgoing } from './outgoing.ts';
import { gapAck, noteGap, takeBatch } from './take-batch.ts';
import { warmDefaultPolicy } from './warm-default-policy.ts';

const pingIntervalMs = 15_000;

type Down = MessageInitShape<typeof ConnectResponseSchema>['message'];

/** One stream of one node. */
export function connect(parts: ApiParts): Method<typeof AgentStreamService, 'connect'> {
  return async function* (requests, context) {
    const outgoing = new Outgoing();
    const reading = readAll(parts, requests, context, outgoing);
    reading.catch(() => undefined).finally(() => outgoing.close());
    yield* outgoing;
    // The node's side may stay open for as long as it likes: the refusal ends both.
    if (outgoing.ended !== '') throw refusal('unavailable', `stream: ${outgoing.ended}`);
    await reading;
  };
}

async function readAll(
  parts: ApiParts,
  requests: AsyncIterable<ConnectRequest>,
  context: HandlerContext,
  outgoing: Outgoing,
): Promise<void> {
  let node: AdmittedNode | null = null;
  let release = (): void => undefined;
  const order = new BatchOrder();
  try {
    for await (const { message } of requests) {
      if (node === null) {
        if (message.case !== 'hello') throw refusal('invalid_argument', 'hello: must come first');
        node = admit(parts, message.value, context);
        context.values.get(peerKey)?.endless();
        release = welcome(parts, node, message.value, outgoing);
        continue;
      }
      // What was read ahead of the end of the stream counts no more.
      if (outgoing.ended !== '') return;
      await takeChecked(parts, node, message, outgoing, order);
    }
  } finally {
    release();
  }
}

/** Errors: permission_denied, failed_precondition. */
function admit(
  parts: Uses<'store' | 'clock' | 'logger' | 'nodes' | 'streams'>,
  hello: AgentHello,
  context: HandlerContext,
): AdmittedNode {
  const node = admitNode(parts, hello, context);
  if (hello.observationProtocolVersion !== observationProtocolVersion) {
    throw refusal(
      'failed_precondition',
      `observationProtocolVersion: must be ${observationProtocolVersion}`,
    );
  }
  const problem = versionMismatch(hello);
  if (problem !== '') throw refusal('failed_precondition', `hello.${problem}`);
  return node;
}

/** Errors: invalid_argument for what the protocol forbids; it is shown as the node's fault. */
async function takeChecked(
  parts: ApiParts,
  node: AdmittedNode,
  message: ConnectRequest['message'],
  outgoing: Outgoing,
  order: BatchOrder,
): Promise<void> {
  const fault = breachOf(node.id, message);
  if (fault === '') {
    parts.nodes.update(node.id, { lastSeenMs: parts.clock.nowMs() });
    await take(parts, node, message, outgoing, order);
    return;
  }
  parts.nodes.update(node.id, { fault });
  parts.agentNotes.noteForOthers(node.id);
  parts.logger.warn('a node broke the protocol', { node: node.id, reason: fault });
  throw refusal('invalid_argument', fault);
}

function welcome(
  parts: ApiParts,
  node: AdmittedNode,
  hello: AgentHello,
  outgoing: Outgoing,
): () => void {
  const { publisher, clock, logger } = parts;
  const nodeId = node.id;
  const leaveStreams = parts.streams.enter(node, 'agent', endOf(outgoing), hello.runId);
  parts.nodes.update(nodeId, {
    connected: true,
    version: hello.version.slice(0, 128),
    capabilities: hello.capabilities ?? null,
    configHash: hello.configHash.slice(0, 64),
    lastSeenMs: clock.nowMs(),
    acknowledged: null,
    interim: null,
    fault: '',
  });
  parts.agentNotes.note(nodeId);
  // The local node says itself that it is connected.
  logger[nodeId === localNodeId ? 'debug' : 'info']('node connected', {
    node: nodeId,
    version: hello.version.slice(0, 64),
  });
  send(outgoing, {
    case: 'welcome',
    value: {
      serverId: parts.installation.controllerId,
      bundleSigningPublicKey: publisher.publicKey,
      metricPayloadVersion,
      capabilities: ownCapabilities,
      takesInterimResults: true,
    },
  });
  const deliver = (publication: Publication): void => {
    const { revision } = publication;
    sendGrant(parts, node, publication, outgoing);
    parts.nodes.update(nodeId, { delivery: { revision, atMs: clock.nowMs() } });
    sendConfig(outgoing, publication);
  };
  const current = publisher.current();
  if (current !== null && hello.configHash !== current.signed.sha256) deliver(current);
  else if (current !== null) {
    sendGrant(parts, node, current, outgoing);
    noteServes(parts, nodeId, current);
  }
  const unsubscribe = publisher.subscribe(deliver);
  const withdraw = parts.streams.offer(nodeId, () => {
    const latest = publisher.current();
    if (latest !== null) deliver(latest);
  });
  const leave = takeOrders(parts, nodeId, outgoing);
  const pings = setInterval(() => {
    send(outgoing, { case: 'ping', value: { nonce: String(clock.nowMs()) } });
  }, pingIntervalMs);
  return () => {
    unsubscribe();
    withdraw();
    leave();
    clearInterval(pings);
    if (!leaveStreams()) return;
    parts.nodes.update(nodeId, { connected: false });
    parts.agentNotes.note(nodeId);
    logger.info('node disconnected', { node: nodeId });
  };
}

/** Ends a stream from this side, with a message that says why. */
function endOf(outgoing: Outgoing): (message: string) => void {
  return (message) => {
    send(outgoing, { case: 'goAway', value: { reason: 'ended', message } });
    outgoing.end(message);
  };
}

/** Sends a node its challenges and orders; returns the undo. */
function takeOrders(
  parts: Uses<'upgrades' | 'challenges'>,
  nodeId: string,
  outgoing: Outgoing,
): () => void {
  const leaveChallenges = parts.challenges.join(nodeId, (token, keyAuthorization) =>
    send(outgoing, { case: 'challengeDispatch', value: { token, keyAuthorization } }),
  );
  const leaveUpgrades = parts.upgrades.join(nodeId, (value) =>
    send(outgoing, { case: 'command', value }),
  );
  return () => {
    leaveChallenges();
    leaveUpgrades();
  };
}

/** The built-in node needs no grant: it is the controller's own. */
function sendGrant(
  parts: Uses<'publisher' | 'nodes'>,
  node: AdmittedNode,
  publication: Publication,
  outgoing: Outgoing,
): void {
  if (node.agent === null) return;
  const { grant, signature, revision, sha256 } = grantFor(node.id, publication, parts.publisher);
  parts.nodes.update(node.id, { grant: { revision, sha256 } });
  send(outgoing, { case: 'servingGrant', value: { grant, signature } });
}

/** A node that says hello with the present configuration has nothing to apply. */
function noteServes(
  parts: Uses<'store' | 'clock' | 'nodes'>,
  nodeId: string,
  { revision, signed }: Publication,
): void {
  const since = publicationRow(parts.store, revision)?.nodes?.[nodeId]?.appliedAt ?? '';
  const atMs = since === '' ? parts.clock.nowMs() : Date.parse(since);
  const apply = { revision, sha256: signed.sha256, success: true, error: '', atMs };
  parts.nodes.update(nodeId, { apply });
}

function sendConfig(outgoing: Outgoing, { revision, signed }: Publication): void {
  send(outgoing, {
    case: 'configUpdate',
    value: {
      correlationId: `config-${revision}`,
      revision: BigInt(revision),
      bundle: signed.bundle,
      signature: signed.signature,
      bundleSha256: signed.sha256,
      bundleSigningPublicKey: signed.publicKey,
    },
  });
}

async function take(
  parts: ApiParts,
  node: AdmittedNode,
  message: ConnectRequest['message'],
  outgoing: Outgoing,
  order: BatchOrder,
): Promise<void> {
  const nodeId = node.id;
  switch (message.case) {
    case 'applyResult':
      await takeApplyResult(parts, nodeId, message.value);
      return;
    case 'interimResult':
      takeInterim(parts, nodeId, message.value);
      return;
    case 'stateReport':
      parts.nodes.update(nodeId, { configHash: message.value.configHash.slice(0, 64) });
      takeLoad(parts, nodeId, message.value.metrics);
      return;
    case 'metricsPush':
      takeLoad(parts, nodeId, message.value.metrics);
      parts.nodes.update(nodeId, { upstreamHealth: healthOf(nodeId, message.value) });
      return;
    case 'challengeResponse':
      parts.challenges.answered(nodeId, message.value.token, message.value.error);
      return;
    case 'commandResult':
      parts.upgrades.answered(nodeId, message.value);
      return;
    case 'observationBatch': {
      const value = await takeBatch(parts, node, message.value, order);
      send(outgoing, { case: 'batchAck', value });
      return;
    }
    case 'gapNotice':
      order.givenUp(message.value);
      noteGap(parts, nodeId, message.value);
      send(outgoing, { case: 'gapNoticeAck', value: gapAck(message.value) });
      return;
    case 'servingGrantAck':
      takeGrantAck(parts, nodeId, message.value);
      return;
    default:
  }
}

function takeInterim(
  parts: Uses<'clock' | 'nodes'>,
  nodeId: string,
  result: AgentInterimResult,
): void {
  const interim = {
    revision: String(result.targetRevision),
    sha256: result.artifactSha256,
    waitingSiteIds: new Set(result.waitingSiteIds),
    atMs: parts.clock.nowMs(),
  };
  parts.nodes.update(nodeId, { interim });
}

/** Health names the node that measured it, whatever the report says. */
function healthOf(nodeId: string, { upstreamHealth }: AgentMetricsPush): UpstreamHealthState[] {
  const reported = upstreamHealth.slice(0, observationLimits.healthReportsMax);
  for (const one of reported) one.nodeId = nodeId;
  return reported;
}

/** Only the grant that was sent last can be confirmed. */
function takeGrantAck(parts: Uses<'nodes'>, nodeId: string, ack: AgentServingGrantAck): void {
  const { grant = null } = parts.nodes.get(nodeId) ?? {};
  const same = grant?.sha256 === ack.grantSha256 && grant.revision === String(ack.revision);
  if (same) parts.nodes.update(nodeId, { acknowledged: grant });
}

/** Load is worth a word in the log, but no stream, when it cannot be kept. */
function takeLoad(
  parts: Uses<'clock' | 'logger' | 'load' | 'nodes'>,
  nodeId: string,
  metrics: AgentMetrics | undefined,
): void {
  if (metrics === undefined) return;
  const atMs = parts.clock.nowMs();
  const before = parts.nodes.get(nodeId)?.load ?? null;
  const overloadSinceMs = overloadSince(before, metrics.wafOverloadState, atMs);
  parts.nodes.update(nodeId, { load: { metrics, atMs, overloadSinceMs } });
  parts.load.add(nodeId, atMs, toReading(metrics)).catch(() => {
    parts.logger.warn('the load of a node could not be kept', { node: nodeId });
  });
}

async function takeApplyResult(
  parts: ApiParts,
  nodeId: string,
  { success, error: reason, targetRevision, artifactSha256 }: AgentApplyResult,
): Promise<void> {
  const revision = String(targetRevision);
  const error = reason.slice(0, callLimits.applyErrorCharactersMax);
  const atMs = parts.clock.nowMs();
  const superseded = !success && error.startsWith('superseded:');
  const known = parts.nodes.get(nodeId);
  if (!superseded) {
    const first = success && known?.apply?.success !== true;
    if (first && nodeId === localNodeId) void warmDefaultPolicy(parts);
    const apply = { revision, sha256: artifactSha256, success, error, atMs };
    parts.nodes.update(nodeId, { apply, ...(success ? { configHash: artifactSha256 } : {}) });
    parts.agentNotes.noteForOthers(nodeId);
  }
  // What all nodes are sent is judged by the built-in one: another may be broken, or in bad hands.
  const judges = nodeId === localNodeId;
  if (success && judges) await parts.publisher.accepted(revision);
  if (!success && !superseded) parts.logger.warn('a node could not apply', { node: nodeId });
  const delivered = known?.delivery?.revision === revision ? known.delivery.atMs : null;
  const delivery: NodeDelivery = {
    deliveredAt: delivered === null ? '' : new Date(delivered).toISOString(),
    appliedAt: success ? new Date(atMs).toISOString() : '',
    result: success ? 'success' : superseded ? 'superseded' : 'failure',
    error,
  };
  await parts.deliveryNotes
    .note(revision, nodeId, delivery)
    .catch(() => parts.logger.error('what a node answered could not be kept', { node: nodeId }));
  if (!success && judges) await parts.publisher.refused(revision, readPolicyFaults(error));
}

function send(outgoing: Outgoing, message: Down): void {
  if (message !== undefined) outgoing.push(create(ConnectResponseSchema, { message }));
}
