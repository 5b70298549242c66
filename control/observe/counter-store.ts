/**
 * Owns the exact counts that nodes send, added up on disk for each site and policy since the store
 * began. Takes each batch once, however often it comes. Knows nothing of events or sampling.
 */

import { fromBinary } from '@bufbuild/protobuf';
import {
  CounterBatchSchema,
  type CounterBatch,
  type CounterDelta,
} from '../../proto/gen/waf/runtime/v1/observation_pb.ts';
import { crc32c } from '../../engine/base/crc32c.ts';
import { observationLimits } from '../limits/observation-limits.ts';
import { metricPayloadVersion } from '../../engine/base/protocol-versions.ts';
import { prefixRange, type Kv, type KvReader, type KvWriter } from '../store/kv.ts';
import type { IncomingBatch, IngestResult } from './event-store.ts';
import { addRankings, forgetRankings, rankedPrefix, readRankings } from './ranking-series.ts';
import type { Rankings } from './ranking-series.ts';
import {
  addTraffic,
  forgetTraffic,
  readTraffic,
  type TrafficResolution,
  type TrafficStep,
} from './traffic-series.ts';

/** Upper bounds of the duration classes in seconds, of that version; the last class has none. */
export const durationBoundsSeconds: readonly number[] = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10,
];

/** What was counted of one site under one policy, by all nodes of a tenant. */
export interface SiteCounts {
  readonly tenantId: string;
  /** Empty for requests that no site answered for. */
  readonly siteId: string;
  /** Empty without inspection. */
  readonly policyId: string;
  requests: number;
  bytesIn: number;
  bytesOut: number;
  durationUs: number;
  readonly durations: number[];
  inspected: number;
  inspectionUs: number;
  /** By family (`CounterFamily` of engine/contract/counters.ts), then key. */
  readonly entries: Record<string, Record<string, number>>;
}

/** Counts that are kept. */
export interface CounterStore {
  /** Adds a batch. Rejects when the disk does not take it. */
  ingest(batch: IncomingBatch, schemaVersion: number): Promise<IngestResult>;
  /** All counts, by tenant, site and policy. Cost: one row each. */
  list(): SiteCounts[];
  /** Traffic of a site ('' for all of a tenant) in a half-open span, oldest first. */
  traffic(
    resolution: TrafficResolution,
    tenantId: string,
    siteId: string,
    startMs: number,
    endMs: number,
  ): TrafficStep[];
  /** The most frequent values of a site ('' for all of a tenant) in the hours of a span. */
  rankings(tenantId: string, siteId: string, startMs: number, endMs: number): Rankings;
}

const separator = '\u0000';
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Opens the counts in `kv`. */
export function openCounterStore(kv: Kv): CounterStore {
  return {
    list: () => [...kv.range(prefixRange(countKey('')))].map(({ value }) => parse(value)),
    traffic: (resolution, tenantId, siteId, startMs, endMs) =>
      readTraffic(kv, resolution, tenantId, siteId, startMs, endMs),
    rankings: (tenantId, siteId, startMs, endMs) =>
      readRankings(kv, tenantId, siteId, startMs, endMs),
    ingest: async (batch, schemaVersion) => {
      if (crc32c(batch.payload) !== batch.crc32c) return 'crc';
      const counted = schemaVersion === metricPayloadVersion ? read(batch.payload) : null;
      if (counted === null) return 'schema';
      const runKey = `cm${separator}seq${separator}${batch.agentId}${separator}${batch.bootId}`;
      return kv.write((writer) => {
        const seen = writer.get(runKey);
        if (seen !== undefined && BigInt(decoder.decode(seen)) >= batch.batchSeq) return 'repeated';
        writer.put(runKey, encoder.encode(String(batch.batchSeq)));
        const atMs = Number(counted.toMs);
        for (const delta of counted.deltas) {
          addRankings(writer, batch.tenantId, atMs, delta);
          if (!countsRequests(delta)) continue;
          add(writer, batch.tenantId, delta);
          addTraffic(writer, batch.tenantId, atMs, delta);
        }
        forgetTraffic(writer, atMs);
        forgetRankings(writer, atMs);
        return 'stored';
      });
    },
  };
}

function read(payload: Uint8Array): CounterBatch | null {
  try {
    return fromBinary(CounterBatchSchema, payload);
  } catch {
    return null;
  }
}

/** Rankings come apart from the requests that they rank. */
function countsRequests({ requests, entries }: CounterDelta): boolean {
  return requests > 0n || entries.some(({ family }) => !family.startsWith(rankedPrefix));
}

function add(writer: KvWriter, tenantId: string, delta: CounterDelta): void {
  const siteId = delta.siteId.slice(0, observationLimits.countedNameCharsMax);
  const policyId = delta.policyId.slice(0, observationLimits.countedNameCharsMax);
  const key = countKey([tenantId, siteId, policyId].join(separator));
  const sum = find(writer, key) ?? nothing(tenantId, siteId, policyId);
  sum.requests += Number(delta.requests);
  sum.bytesIn += Number(delta.bytesIn);
  sum.bytesOut += Number(delta.bytesOut);
  sum.durationUs += Number(delta.durationUs);
  sum.inspected += Number(delta.inspected);
  sum.inspectionUs += Number(delta.inspectionUs);
  delta.durations.slice(0, sum.durations.length).forEach((count, at) => {
    sum.durations[at] = (sum.durations[at] ?? 0) + Number(count);
  });
  for (const { family, key: name, count } of delta.entries) {
    if (family.startsWith(rankedPrefix)) continue;
    const counts = (sum.entries[family] ??= {});
    const full = Object.keys(counts).length >= observationLimits.countedKeysMax;
    // What has no place of its own is counted still.
    const place = full && !Object.hasOwn(counts, name) ? otherCounts : name;
    counts[place] = (counts[place] ?? 0) + Number(count);
  }
  writer.put(key, encoder.encode(JSON.stringify(sum)));
}

/** Where counts go whose names are too many. */
const otherCounts = '(other)';

function nothing(tenantId: string, siteId: string, policyId: string): SiteCounts {
  const zero = { requests: 0, bytesIn: 0, bytesOut: 0, durationUs: 0 };
  const durations = new Array<number>(durationBoundsSeconds.length + 1).fill(0);
  const entries = {};
  return { tenantId, siteId, policyId, ...zero, durations, inspected: 0, inspectionUs: 0, entries };
}

function find(reader: KvReader, key: string): SiteCounts | null {
  const bytes = reader.get(key);
  return bytes === undefined ? null : parse(bytes);
}

function parse(bytes: Uint8Array): SiteCounts {
  return JSON.parse(decoder.decode(bytes)) as SiteCounts;
}

function countKey(name: string): string {
  return `c${separator}${name}`;
}
