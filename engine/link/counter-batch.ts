/** Adds up the counts of all front threads, and the form in which they travel. */

import { create } from '@bufbuild/protobuf';
import {
  CounterBatchSchema,
  CounterDeltaSchema,
  CounterEntrySchema,
  type CounterBatch,
} from '../../proto/gen/waf/runtime/v1/observation_pb.ts';
import { durationBoundsUs } from '../contract/counters.ts';
import {
  apiCounts,
  apiEndpoints,
  apiViolations,
  omittedEndpoints,
} from '../contract/api-counts.ts';
import { apiLearningFamily, type LearningDelta } from '../contract/api-learning.ts';
import { detectionClientsFamily, type ClientsDelta } from '../contract/detection-content.ts';
import type { ApiCountDelta, EndpointDelta } from '../contract/api-counts.ts';
import type { CounterDelta, RankingDelta } from '../contract/counters.ts';
import { shadowExampleFamily, shadowFamily, type ShadowDelta } from '../contract/shadow.ts';

/** Families of ranked values begin so; nothing else does. */
const rankedPrefix = 'top_';

interface Sum extends Omit<CounterDelta, 'entries' | 'inspections'> {
  readonly entries: Map<string, Map<string, number>>;
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

  /**
   * Frequent values travel beside the sums, as entries of `top_<dimension>`, and of
   * `top_<dimension>_blocked` for the blocked ones among them.
   */
  rank(deltas: readonly RankingDelta[]): void {
    for (const { siteId, dimension, entries } of deltas) {
      const sum = this.#sumOf(siteId, '');
      for (const { key, total, blocked } of entries) {
        const text = Buffer.from(key, 'latin1').toString('utf8');
        raise(sum, `${rankedPrefix}${dimension}`, text, total);
        if (blocked > 0) raise(sum, `${rankedPrefix}${dimension}_blocked`, text, blocked);
      }
    }
  }

  /** Endpoints travel beside the sums: method, host and path. */
  learnEndpoints(deltas: readonly EndpointDelta[]): void {
    for (const { siteId, endpoints, omitted } of deltas) {
      const sum = this.#sumOf(siteId, '');
      for (const { method, host, path, count } of endpoints) {
        raise(sum, apiEndpoints, `${method} ${host} ${path}`, count);
      }
      if (omitted > 0) raise(sum, apiEndpoints, omittedEndpoints, omitted);
    }
  }

  /** What was learned of bodies travels beside the sums: asset and generation come first. */
  learnBodies(deltas: readonly LearningDelta[]): void {
    for (const { siteId, assetId, generation, entries } of deltas) {
      const sum = this.#sumOf(siteId, '');
      for (const [key, count] of entries) {
        raise(sum, apiLearningFamily, `${assetId} ${generation} ${key}`, count);
      }
    }
  }

  /** Clients with signs travel beside the sums: the key is all of a delta but its count. */
  learnClients(deltas: readonly ClientsDelta[]): void {
    for (const { siteId, requests, ...rest } of deltas) {
      const { generation, hour, place, family, bits, sample } = rest;
      const { method, path, name } = place;
      const key = [generation, hour, family, method, path, name, bits, sample];
      raise(this.#sumOf(siteId, ''), detectionClientsFamily, JSON.stringify(key), requests);
    }
  }

  /** Comparisons travel beside the sums: the run comes first; of an example all is the key. */
  compare(deltas: readonly ShadowDelta[]): void {
    for (const { siteId, runId, counts, examples } of deltas) {
      const sum = this.#sumOf(siteId, '');
      for (const [outcome, count] of counts) raise(sum, shadowFamily, `${runId} ${outcome}`, count);
      for (const { outcome, requestId, method, path, ruleIds } of examples) {
        const key = [runId, outcome, requestId, method, path, ruleIds];
        raise(sum, shadowExampleFamily, JSON.stringify(key), 1);
      }
    }
  }

  /** Counts of APIs travel beside the sums: their keys name interval, contract and operation. */
  countApis(deltas: readonly ApiCountDelta[]): void {
    for (const { siteId, contractId, bindingId, startMs, entries, violations } of deltas) {
      const sum = this.#sumOf(siteId, '');
      const place = `${startMs} ${contractId} ${bindingId || '-'} `;
      for (const [key, count] of entries) raise(sum, apiCounts, place + key, count);
      for (const { fingerprint, text, count } of violations) {
        raise(sum, apiViolations, `${place}${fingerprint} ${text}`, count);
      }
    }
  }

  /** All sums as one batch, and counting begins anew; null when there is nothing to tell. */
  drain(nowMs: number): CounterBatch | null {
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
    const sum = this.#sumOf(delta.siteId, delta.policyId);
    sum.requests += delta.requests;
    sum.bytesIn += delta.bytesIn;
    sum.bytesOut += delta.bytesOut;
    sum.durationUs += delta.durationUs;
    sum.inspected += delta.inspected;
    sum.inspectionUs += delta.inspectionUs;
    delta.durations.forEach((count, at) => (sum.durations[at]! += count));
    for (const [family, counts] of delta.entries) {
      for (const [key, count] of counts) raise(sum, family, String(key), count);
    }
  }

  #sumOf(siteId: string, policyId: string): Sum {
    const id = `${siteId}\u0000${policyId}`;
    let sum = this.#sums.get(id);
    if (sum === undefined) {
      const zero = { requests: 0, bytesIn: 0, bytesOut: 0, durationUs: 0 };
      sum = {
        siteId,
        policyId,
        ...zero,
        durations: new Array<number>(durationBoundsUs.length + 1).fill(0),
        inspected: 0,
        inspectionUs: 0,
        entries: new Map(),
      };
      this.#sums.set(id, sum);
    }
    return sum;
  }
}

function raise(sum: Sum, family: string, key: string, count: number): void {
  let counts = sum.entries.get(family);
  if (counts === undefined) sum.entries.set(family, (counts = new Map()));
  counts.set(key, (counts.get(key) ?? 0) + count);
}

function whole(value: number): bigint {
  return BigInt(Math.max(0, Math.round(value)));
}
