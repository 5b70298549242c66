/** Owns adding up the counts of all front threads, and the form in which they travel. */

import { create } from '@bufbuild/protobuf';
import {
  CounterBatchSchema,
  CounterDeltaSchema,
  CounterEntrySchema,
  type CounterBatch,
} from '../../proto/gen/waf/runtime/v1/observation_pb.ts';
import type { CounterDelta, CounterFamily } from '../contract/counters.ts';

/** Version of the payload's meaning, duration bounds included. */
export const counterSchemaVersion = 1;

interface Sum extends Omit<CounterDelta, 'entries'> {
  readonly entries: Map<CounterFamily, Map<string, number>>;
}

/** Sums since the last batch; one per site and policy that had traffic. */
export class CounterSums {
  #sums = new Map<string, Sum>();
  #fromMs: number;

  constructor(nowMs: number) {
    this.#fromMs = nowMs;
  }

  add(deltas: readonly CounterDelta[]): void {
    for (const delta of deltas) this.#addOne(delta);
  }

  /** All sums as one batch, and counting begins anew; null when there is nothing to tell. */
  take(nowMs: number): CounterBatch | null {
    if (this.#sums.size === 0) return null;
    const deltas = [...this.#sums.values()].map((sum) => {
      const entries = [...sum.entries].flatMap(([family, counts]) => {
        return [...counts].map(([key, count]) => {
          return create(CounterEntrySchema, { family, key, count: BigInt(count) });
        });
      });
      return create(CounterDeltaSchema, {
        siteId: sum.siteId,
        policyId: sum.policyId,
        requests: BigInt(sum.requests),
        bytesIn: whole(sum.bytesIn),
        bytesOut: whole(sum.bytesOut),
        durationUs: whole(sum.durationUs),
        durations: sum.durations.map(BigInt),
        inspected: BigInt(sum.inspected),
        inspectionUs: whole(sum.inspectionUs),
        entries,
      });
    });
    const fromMs = BigInt(this.#fromMs);
    this.#sums = new Map();
    this.#fromMs = nowMs;
    return create(CounterBatchSchema, { fromMs, toMs: BigInt(nowMs), deltas });
  }

  #addOne(delta: CounterDelta): void {
    const id = `${delta.siteId}\u0000${delta.policyId}`;
    let sum = this.#sums.get(id);
    if (sum === undefined) {
      const { siteId, policyId } = delta;
      const zero = { requests: 0, bytesIn: 0, bytesOut: 0, durationUs: 0 };
      const durations = delta.durations.map(() => 0);
      sum = {
        siteId,
        policyId,
        ...zero,
        durations,
        inspected: 0,
        inspectionUs: 0,
        entries: new Map(),
      };
      this.#sums.set(id, sum);
    }
    sum.requests += delta.requests;
    sum.bytesIn += delta.bytesIn;
    sum.bytesOut += delta.bytesOut;
    sum.durationUs += delta.durationUs;
    sum.inspected += delta.inspected;
    sum.inspectionUs += delta.inspectionUs;
    delta.durations.forEach((count, at) => (sum.durations[at]! += count));
    for (const [family, counts] of delta.entries) {
      let into = sum.entries.get(family);
      if (into === undefined) sum.entries.set(family, (into = new Map()));
      for (const [key, count] of counts)
        into.set(String(key), (into.get(String(key)) ?? 0) + count);
    }
  }
}

function whole(value: number): bigint {
  return BigInt(Math.max(0, Math.round(value)));
}
