/** A batch that could not be kept is not covered by the acknowledgement of a later one. */

import { create, toBinary } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import { systemClock } from '../../../base/clock.ts';
import { crc32c } from '../../../base/crc32c.ts';
import { silentLogger } from '../../../base/log.ts';
import { errorFactVersion } from '../../../base/protocol-versions.ts';
import { ErrorFactBatchSchema } from '../../../proto/gen/waf/runtime/v1/observation_pb.ts';
import {
  GapNoticeSchema,
  ObservationBatchAckStatus,
  ObservationBatchSchema,
  ObservationStreamKind,
  type BatchAck,
} from '../../../proto/gen/waf/v1/agent_stream_pb.ts';
import { openCounterStore } from '../../observe/counter-store.ts';
import { openEventStore } from '../../observe/events/embedded-events.ts';
import { ObservationPipeline } from '../../observe/pipeline.ts';
import type { Kv } from '../../store/kv.ts';
import { openMemoryKv } from '../../store/memory-kv.ts';
import { BatchOrder } from './batch-order.ts';
import { takeBatch } from './take-batch.ts';

const { ACCEPTED_MEMORY, RETRYABLE } = ObservationBatchAckStatus;
const streamKind = ObservationStreamKind.ERROR_DETAIL;
const bootId = new Uint8Array(16);

/** A store whose disk takes nothing while it is full, and one stream of a node into it. */
function startStream() {
  const disk = { full: false };
  const memory = openMemoryKv();
  const write: Kv['write'] = (work) =>
    disk.full ? Promise.reject(new Error('no space left')) : memory.write(work);
  const events = openEventStore({ ...memory, write });
  const parts = {
    events,
    counters: openCounterStore(memory),
    pipeline: new ObservationPipeline(),
    clock: systemClock,
    logger: silentLogger,
  };
  const order = new BatchOrder();
  const send = async (seq: number): Promise<BatchAck['status']> => {
    const facts = [{ atMs: 1n, level: 'error', logger: 'http', message: `fault ${seq}` }];
    const payload = toBinary(ErrorFactBatchSchema, create(ErrorFactBatchSchema, { facts }));
    const version = { payloadSchemaVersion: errorFactVersion, crc32c: crc32c(payload) };
    const header = { bootId, streamKind, batchSeq: BigInt(seq), ...version };
    const batch = create(ObservationBatchSchema, { header, payload });
    return (await takeBatch(parts, { id: 'a', tenantId: 't' }, batch, order)).status;
  };
  return { disk, events, order, send };
}

test('later batches wait for one that was refused; all are kept when they come again', async () => {
  const { disk, events, send } = startStream();
  expect(await send(1)).toBe(ACCEPTED_MEMORY);
  disk.full = true;
  expect(await send(2)).toBe(RETRYABLE);
  disk.full = false;
  expect(await send(3)).toBe(RETRYABLE);
  for (const seq of [2, 3]) expect(await send(seq)).toBe(ACCEPTED_MEMORY);
  expect(events.use().error.events).toBe(3);
});

test('nobody waits for a batch that its node gave up', async () => {
  const { disk, events, order, send } = startStream();
  disk.full = true;
  expect(await send(1)).toBe(RETRYABLE);
  disk.full = false;
  const range = { firstBatchSeq: 1n, lastBatchSeq: 1n };
  order.givenUp(create(GapNoticeSchema, { bootId, streamKind, ...range }));
  expect(await send(2)).toBe(ACCEPTED_MEMORY);
  expect(events.use().error.events).toBe(1);
});
