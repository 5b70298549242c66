/** Tests when observations leave for control. */

import { create } from '@bufbuild/protobuf';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import {
  BatchAckSchema,
  ObservationBatchAckStatus,
  type ObservationBatch,
} from '../../proto/gen/waf/v1/agent_stream_pb.ts';
import { sampleEvent } from '../../test/support/sample-event.ts';
import { linkLimits } from '../base/observation-limits.ts';
import { Observations } from './observations.ts';

const blockedRequest = sampleEvent({ status: 403, outcome: 'blocked', blocked: true });

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Observations whose batches gather in `batches`. */
function connected() {
  const batches: ObservationBatch[] = [];
  const observations = new Observations(undefined);
  observations.connected((message) => {
    if (message?.case === 'observationBatch') batches.push(message.value as ObservationBatch);
  });
  const observe = (count: number): void => {
    for (let at = 0; at < count; at++) observations.observe(blockedRequest);
  };
  const acknowledge = ({ header }: ObservationBatch): void => {
    const { bootId, streamKind, batchSeq: ackThroughBatchSeq } = header!;
    const status = ObservationBatchAckStatus.ACCEPTED_MEMORY;
    const answer = { bootId, streamKind, ackThroughBatchSeq, status };
    observations.batchAcknowledged(create(BatchAckSchema, answer));
  };
  const items = (): number[] => batches.map(({ header }) => header!.itemCount);
  return { observations, batches, observe, acknowledge, items };
}

test('an answer of control cuts no open batch short', () => {
  const { batches, observe, acknowledge, items } = connected();
  observe(3);
  vi.advanceTimersByTime(linkLimits.batchDelayMs);
  observe(2);
  acknowledge(batches[0]!);
  observe(2);
  expect(items()).toEqual([3]);
  vi.advanceTimersByTime(linkLimits.batchDelayMs);
  expect(items()).toEqual([3, 4]);
});

test('an answer of control lets a closed batch leave that waited for it', () => {
  const { batches, observe, acknowledge, items } = connected();
  const { batchesInFlightMax, batchFactsMax } = linkLimits;
  observe(batchFactsMax * (batchesInFlightMax + 1));
  expect(items()).toEqual(Array.from({ length: batchesInFlightMax }, () => batchFactsMax));
  acknowledge(batches[0]!);
  expect(items()).toHaveLength(batchesInFlightMax + 1);
});
