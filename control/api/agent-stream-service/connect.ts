/**
 * Owns AgentStreamService/Connect on the controller's side: hello, welcome, configurations down,
 * results and observations up. The node `local` is accepted on the administration socket only.
 */

import { create, type MessageInitShape } from '@bufbuild/protobuf';
import type { HandlerContext } from '@connectrpc/connect';
import {
  BatchAckSchema,
  ConnectResponseSchema,
  ObservationAckDurability,
  ObservationAckErrorCode,
  ObservationBatchAckStatus,
  ObservationGapAckStatus,
  ObservationStreamKind,
  type AgentApplyResult,
  type AgentHello,
  type AgentStreamService,
  type BatchAck,
  type ConnectRequest,
  type GapNotice,
  type ObservationBatch,
} from '../../../proto/gen/waf/v1/agent_stream_pb.ts';
import type { AgentMetrics } from '../../../proto/gen/waf/v1/agent_pb.ts';
import { toAppError } from '../../../engine/base/errors.ts';
import { callLimits } from '../../limits/call-limits.ts';
import { observationLimits } from '../../limits/observation-limits.ts';
import {
  metricPayloadVersion,
  observationProtocolVersion,
  ownCapabilities,
  versionMismatch,
} from '../../../engine/base/protocol-versions.ts';
import { readPolicyFaults } from '../../../engine/base/policy-faults.ts';
import { refusal } from '../../domain/errors.ts';
import { defaultTenantId } from '../../domain/records.ts';
import { noteDelivery, publicationRow } from '../../publish/publication-log.ts';
import type { IngestResult } from '../../observe/event-store.ts';
import type { EventLane } from '../../observe/events/event-kind.ts';
import type { LaneField, ObservationLane } from '../../observe/pipeline.ts';
import type { Publication } from '../../publish/publisher.ts';
import { entranceKey, peerKey, type ApiParts } from '../context.ts';
import { toReading } from '../agent-service/metric-samples.ts';
import type { Method } from '../method.ts';
import { Outgoing } from './outgoing.ts';
import { warmDefaultPolicy } from './warm-default-policy.ts';

const pingIntervalMs = 15_000;
const localNodeId = 'local';

type Down = MessageInitShape<typeof ConnectResponseSchema>['message'];

/** One stream of one node. */
export function connect(parts: ApiParts): Method<typeof AgentStreamService, 'connect'> {
  return async function* (requests, context) {
    const outgoing = new Outgoing();
    const reading = readAll(parts, requests, context, outgoing);
    reading.catch(() => undefined).finally(() => outgoing.close());
    yield* outgoing;
    await reading;
  };
}

async function readAll(
  parts: ApiParts,
  requests: AsyncIterable<ConnectRequest>,
  context: HandlerContext,
  outgoing: Outgoing,
): Promise<void> {
  let nodeId = '';
  let release = (): void => undefined;
  try {
    for await (const { message } of requests) {
      if (nodeId === '') {
        if (message.case !== 'hello') throw refusal('invalid_argument', 'hello: must come first');
        nodeId = admit(message.value, context);
        context.values.get(peerKey)?.endless();
        release = welcome(parts, nodeId, message.value, outgoing);
        continue;
      }
      parts.nodes.update(nodeId, { lastSeenMs: parts.clock.nowMs() });
      await take(parts, nodeId, message, outgoing);
    }
  } finally {
    release();
    if (nodeId !== '') {
      parts.nodes.update(nodeId, { connected: false });
      parts.logger.info('node disconnected', { node: nodeId });
    }
  }
}

/** Errors: permission_denied, failed_precondition. */
function admit(hello: AgentHello, context: HandlerContext): string {
  if (hello.observationProtocolVersion !== observationProtocolVersion) {
    throw refusal(
      'failed_precondition',
      `observationProtocolVersion: must be ${observationProtocolVersion}`,
    );
  }
  const problem = versionMismatch(hello);
  if (problem !== '') throw refusal('failed_precondition', `hello.${problem}`);
  const local = context.values.get(entranceKey) === 'socket';
  if (local && hello.agentId === localNodeId) return localNodeId;
  throw refusal('permission_denied', 'hello: this node is not enrolled');
}

function welcome(
  parts: ApiParts,
  nodeId: string,
  hello: AgentHello,
  outgoing: Outgoing,
): () => void {
  const { publisher, clock, logger } = parts;
  parts.nodes.update(nodeId, {
    connected: true,
    version: hello.version,
    capabilities: hello.capabilities ?? null,
    configHash: hello.configHash,
    lastSeenMs: clock.nowMs(),
  });
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
    },
  });
  const deliver = (publication: Publication): void => {
    const { revision } = publication;
    parts.nodes.update(nodeId, { delivery: { revision, atMs: clock.nowMs() } });
    sendConfig(outgoing, publication);
  };
  const current = publisher.current();
  if (current !== null && hello.configHash !== current.signed.sha256) deliver(current);
  else if (current !== null) noteServes(parts, nodeId, current);
  const unsubscribe = publisher.subscribe(deliver);
  const leave = parts.challenges.join(nodeId, (token, keyAuthorization) =>
    send(outgoing, { case: 'challengeDispatch', value: { token, keyAuthorization } }),
  );
  const pings = setInterval(() => {
    send(outgoing, { case: 'ping', value: { nonce: String(clock.nowMs()) } });
  }, pingIntervalMs);
  return () => {
    unsubscribe();
    leave();
    clearInterval(pings);
  };
}

/** A node that says hello with the present configuration has nothing to apply. */
function noteServes(parts: ApiParts, nodeId: string, { revision, signed }: Publication): void {
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
  nodeId: string,
  message: ConnectRequest['message'],
  outgoing: Outgoing,
): Promise<void> {
  switch (message.case) {
    case 'applyResult':
      await takeApplyResult(parts, nodeId, message.value);
      return;
    case 'stateReport':
      parts.nodes.update(nodeId, { configHash: message.value.configHash });
      takeLoad(parts, nodeId, message.value.metrics);
      return;
    case 'metricsPush':
      takeLoad(parts, nodeId, message.value.metrics);
      parts.nodes.update(nodeId, {
        upstreamHealth: message.value.upstreamHealth.slice(0, observationLimits.healthReportsMax),
      });
      return;
    case 'challengeResponse':
      parts.challenges.answered(nodeId, message.value.token, message.value.error);
      return;
    case 'observationBatch':
      send(outgoing, {
        case: 'batchAck',
        value: await takeBatch(parts, nodeId, message.value),
      });
      return;
    case 'gapNotice':
      noteGap(parts, nodeId, message.value);
      send(outgoing, { case: 'gapNoticeAck', value: gapAck(message.value) });
      return;
    default:
  }
}

/** Load is worth a word in the log, but no stream, when it cannot be kept. */
function takeLoad(parts: ApiParts, nodeId: string, metrics: AgentMetrics | undefined): void {
  if (metrics === undefined) return;
  const atMs = parts.clock.nowMs();
  parts.nodes.update(nodeId, { load: { metrics, atMs } });
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
  }
  if (success) await parts.publisher.accepted(revision);
  else if (!superseded) parts.logger.warn('a node could not apply', { node: nodeId });
  const delivered = known?.delivery?.revision === revision ? known.delivery.atMs : null;
  await noteDelivery(parts.store, revision, nodeId, {
    deliveredAt: delivered === null ? '' : new Date(delivered).toISOString(),
    appliedAt: success ? new Date(atMs).toISOString() : '',
    result: success ? 'success' : superseded ? 'superseded' : 'failure',
    error,
  }).catch(() => parts.logger.error('what a node answered could not be kept', { node: nodeId }));
  if (!success) await parts.publisher.refused(revision, readPolicyFaults(error));
}

async function takeBatch(
  parts: ApiParts,
  nodeId: string,
  { header, payload }: ObservationBatch,
): Promise<BatchAck> {
  const batchSeq = header?.batchSeq ?? 0n;
  const ack = (status: ObservationBatchAckStatus, errorCode: ObservationAckErrorCode): BatchAck =>
    create(BatchAckSchema, {
      bootId: header?.bootId ?? new Uint8Array(),
      streamKind: header?.streamKind ?? ObservationStreamKind.UNSPECIFIED,
      batchSeq,
      ackThroughBatchSeq: batchSeq,
      status,
      durability: ObservationAckDurability.MEMORY,
      errorCode,
    });
  const { ACCEPTED_MEMORY, FATAL_PROTOCOL, RETRYABLE, TERMINAL_GAP } = ObservationBatchAckStatus;
  const lane = laneOf(header?.streamKind);
  if (header === undefined || lane === 'other') {
    return ack(FATAL_PROTOCOL, ObservationAckErrorCode.SCHEMA);
  }
  try {
    const batch = {
      agentId: nodeId,
      tenantId: defaultTenantId,
      bootId: Buffer.from(header.bootId).toString('hex'),
      batchSeq,
      crc32c: header.crc32c,
      payload,
    };
    const version = header.payloadSchemaVersion;
    const result = await (lane === 'metric'
      ? parts.counters.ingest(batch, version)
      : parts.events.ingest(eventLaneOf[lane], batch, version));
    parts.pipeline.add(lane, laneFields[result]);
    parts.pipeline.note(lane, parts.clock.nowMs(), laneErrors[result]);
    if (result === 'crc') return ack(TERMINAL_GAP, ObservationAckErrorCode.CRC);
    if (result === 'schema') return ack(TERMINAL_GAP, ObservationAckErrorCode.SCHEMA);
    return ack(ACCEPTED_MEMORY, ObservationAckErrorCode.NONE);
  } catch (error) {
    parts.pipeline.add(lane, 'batches_failed');
    parts.pipeline.note(lane, parts.clock.nowMs(), toAppError(error).message);
    parts.logger.error('observations could not be kept', { node: nodeId });
    return ack(RETRYABLE, ObservationAckErrorCode.TEMPORARY_IO);
  }
}

const laneFields: Readonly<Record<IngestResult, LaneField>> = {
  stored: 'batches_stored',
  repeated: 'batches_repeated',
  crc: 'batches_damaged',
  schema: 'batches_not_understood',
};

const laneErrors: Readonly<Record<IngestResult, string>> = {
  stored: '',
  repeated: '',
  crc: 'a batch was damaged on its way',
  schema: 'a batch is of a version that is not understood',
};

const lanes: ReadonlyMap<ObservationStreamKind, ObservationLane> = new Map([
  [ObservationStreamKind.METRIC, 'metric'],
  [ObservationStreamKind.SECURITY_FACT, 'security_fact'],
  [ObservationStreamKind.ACCESS_DETAIL_FULL, 'access_detail'],
  [ObservationStreamKind.ACCESS_DETAIL_EVIDENCE, 'access_sample'],
  [ObservationStreamKind.ERROR_DETAIL, 'error_detail'],
]);

/** Where the events of a stream are kept. */
const eventLaneOf: Readonly<Record<Exclude<ObservationLane, 'metric' | 'other'>, EventLane>> = {
  security_fact: 'security',
  access_detail: 'access',
  access_sample: 'access_sample',
  error_detail: 'error',
};

function laneOf(kind: ObservationStreamKind | undefined): ObservationLane {
  return (kind === undefined ? undefined : lanes.get(kind)) ?? 'other';
}

function noteGap(parts: ApiParts, nodeId: string, gap: GapNotice): void {
  const items = Number(gap.lastItemSeq - gap.firstItemSeq) + 1;
  const lane = laneOf(gap.streamKind);
  parts.pipeline.add(lane, 'gaps');
  parts.pipeline.add(lane, 'items_lost', Math.max(0, items));
  parts.logger.warn('a node gave observations up', { node: nodeId, lane, items });
}

function gapAck(gap: GapNotice) {
  return {
    bootId: gap.bootId,
    streamKind: gap.streamKind,
    ackThroughBatchSeq: gap.lastBatchSeq,
    firstBatchSeq: gap.firstBatchSeq,
    status: ObservationGapAckStatus.ACCEPTED,
    errorCode: ObservationAckErrorCode.NONE,
  };
}

function send(outgoing: Outgoing, message: Down): void {
  if (message !== undefined) outgoing.push(create(ConnectResponseSchema, { message }));
}
