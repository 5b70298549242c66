/** What becomes of observations of a node: kept, repeated, damaged, or given up. */

import { create } from '@bufbuild/protobuf';
import {
  BatchAckSchema,
  ObservationAckDurability,
  ObservationAckErrorCode,
  ObservationBatchAckStatus,
  ObservationGapAckStatus,
  ObservationGapReason,
  ObservationStreamKind,
  type BatchAck,
  type GapNotice,
  type ObservationBatch,
} from '../../../proto/gen/waf/v1/agent_stream_pb.ts';
import { toAppError } from '../../../base/errors.ts';
import type { IncomingBatch, IngestResult } from '../../observe/event-store.ts';
import type { EventLane } from '../../observe/events/event-kind.ts';
import type { LaneField, ObservationLane } from '../../observe/pipeline.ts';
import type { ApiParts, Uses } from '../context.ts';
import type { AdmittedNode } from '../nodes/admit-node.ts';
import type { BatchOrder } from './batch-order.ts';

/** What it works with. */
type BatchParts = Pick<ApiParts, 'counters' | 'events' | 'pipeline' | 'clock' | 'logger'>;

/** Keeps a batch and answers what became of it; `order` is that of the batch's stream. */
export async function takeBatch(
  parts: BatchParts,
  node: Pick<AdmittedNode, 'id' | 'tenantId'>,
  { header, payload }: ObservationBatch,
  order: BatchOrder,
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
  if (order.mustWait(header, batchSeq)) return ack(RETRYABLE, ObservationAckErrorCode.TEMPORARY_IO);
  try {
    const batch = {
      agentId: node.id,
      tenantId: node.tenantId,
      bootId: Buffer.from(header.bootId).toString('hex'),
      batchSeq,
      crc32c: header.crc32c,
      payload,
    };
    const version = header.payloadSchemaVersion;
    const result = await ingest(parts, lane, batch, version);
    order.taken(header, batchSeq);
    parts.pipeline.add(lane, laneFields[result]);
    parts.pipeline.note(lane, parts.clock.nowMs(), laneErrors[result]);
    if (result === 'crc') return ack(TERMINAL_GAP, ObservationAckErrorCode.CRC);
    if (result === 'schema') return ack(TERMINAL_GAP, ObservationAckErrorCode.SCHEMA);
    return ack(ACCEPTED_MEMORY, ObservationAckErrorCode.NONE);
  } catch (error) {
    order.refused(header, batchSeq);
    parts.pipeline.add(lane, 'batches_failed');
    const { message } = toAppError(error);
    const known = parts.pipeline.times(lane).lastError === message;
    parts.pipeline.note(lane, parts.clock.nowMs(), message);
    // It comes again at once, and as long as this lasts.
    if (!known) parts.logger.error('observations could not be kept', { node: node.id, lane });
    return ack(RETRYABLE, ObservationAckErrorCode.TEMPORARY_IO);
  }
}

function ingest(
  { counters, events }: BatchParts,
  lane: Exclude<ObservationLane, 'other'>,
  batch: IncomingBatch,
  version: number,
): Promise<IngestResult> {
  if (lane === 'metric') return counters.ingest(batch, version);
  if (lane === 'access_export') return events.passAccess(batch, version);
  return events.ingest(eventLaneOf[lane], batch, version);
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
  [ObservationStreamKind.ACCESS_SIEM, 'access_export'],
  [ObservationStreamKind.ERROR_DETAIL, 'error_detail'],
]);

/** Where the events of a stream are kept. */
const eventLaneOf: Readonly<
  Record<Exclude<ObservationLane, 'metric' | 'access_export' | 'other'>, EventLane>
> = {
  security_fact: 'security',
  access_detail: 'access',
  access_sample: 'access_sample',
  error_detail: 'error',
};

function laneOf(kind: ObservationStreamKind | undefined): ObservationLane {
  return (kind === undefined ? undefined : lanes.get(kind)) ?? 'other';
}

/** Counts what a node gave up. */
export function noteGap(parts: Uses<'logger' | 'pipeline'>, nodeId: string, gap: GapNotice): void {
  const items = Number(gap.lastItemSeq - gap.firstItemSeq) + 1;
  const lane = laneOf(gap.streamKind);
  parts.pipeline.add(lane, 'gaps');
  parts.pipeline.add(lane, 'items_lost', Math.max(0, items));
  const ended = gap.reason === ObservationGapReason.RUN_ENDED;
  const message = ended
    ? 'a node ended before it stored what it had counted'
    : 'a node gave observations up';
  parts.logger.warn(message, { node: nodeId, lane, items });
}

/** The answer to a gap. */
export function gapAck(gap: GapNotice) {
  return {
    bootId: gap.bootId,
    streamKind: gap.streamKind,
    ackThroughBatchSeq: gap.lastBatchSeq,
    firstBatchSeq: gap.firstBatchSeq,
    status: ObservationGapAckStatus.ACCEPTED,
    errorCode: ObservationAckErrorCode.NONE,
  };
}
