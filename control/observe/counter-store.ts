/**
 * The exact counts that nodes send, added up on disk for each site and policy since the store
 * began. Takes each batch once, however often it comes. Knows nothing of events or sampling.
 */

import { fromBinary } from '@bufbuild/protobuf';
import {
  CounterBatchSchema,
  type CounterBatch,
  type CounterDelta,
} from '../../proto/gen/waf/runtime/v1/observation_pb.ts';
import { systemClock, type Clock } from '../../base/clock.ts';
import { crc32c } from '../../base/crc32c.ts';
import { alertLimits } from '../limits/alert-limits.ts';
import { observationLimits } from '../limits/observation-limits.ts';
import { metricPayloadVersion } from '../../base/protocol-versions.ts';
import { prefixRange, type Kv, type KvReader, type KvWriter } from '../store/kv.ts';
import type { IncomingBatch, IngestResult } from './event-store.ts';
import {
  addDetection,
  apiPrefix,
  forgetDetection,
  readDetection,
  type DetectionInterval,
} from './detection-series.ts';
import { EndpointChanges } from './endpoint-changes.ts';
import { addEndpoints, readEndpoints, type SiteEndpoints } from './endpoint-store.ts';
import {
  addAlertCounts,
  alertFamily,
  forgetAlertCounts,
  readMark,
  resetMark,
  walkAlertCounts,
  type CountsMark,
} from './alert-series.ts';
import { addLearning, forgetLearning, readLearning, type GenerationOf } from './learning-store.ts';
import {
  addClients,
  detectionClientsFamily,
  forgetClients,
  readClients,
  type ClientsPlaceOf,
} from './detection-clients.ts';
import type { ListEntryPlace } from '../domain/access/ip-list.ts';
import type { LearnedRow } from '../domain/policy/detection-learning.ts';
import type { LearnedEvidence } from '../domain/documents/api-learning.ts';
import {
  addGuardRuleHits,
  guardRuleFamily,
  readGuardRuleHits,
  type GuardRuleHits,
} from './guard-rule-hits.ts';
import {
  addListEntryHits,
  listHitFamily,
  readListEntryHits,
  type ListEntriesOf,
  type ListEntryHits,
} from './list-entry-hits.ts';
import {
  addShadowCounts,
  forgetShadowCounts,
  readShadowCounts,
  shadowFamilies,
  type ShadowCounts,
  type TenantOfRun,
} from './shadow-counts.ts';
import { HeldCounts } from './held-counts.ts';
import type { CountStep } from '../domain/alert/alert-facts.ts';
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
  /** What was counted of an API under a contract in a half-open span, by interval, oldest first. */
  detection(
    tenantId: string,
    siteId: string,
    contractId: string,
    startMs: number,
    endMs: number,
  ): DetectionInterval[];
  /** Endpoints of a site that traffic showed. */
  endpoints(tenantId: string, siteId: string): SiteEndpoints;
  /** A number that changes whenever `endpoints` of the site may give something else. */
  endpointChanges(tenantId: string, siteId: string): number;
  /** What an endpoint learned in a generation. */
  learned(assetId: string, generation: number): LearnedEvidence;
  /** Clients that showed signs of attacks in values of a site, in a generation. */
  clients(siteId: string, generation: number): LearnedRow[];
  /** How the decisions of two rulesets compare in a shadow run. */
  shadow(runId: string): ShadowCounts;
  /** How often a rule of a guard decided; null for never. */
  guardRuleHits(tenantId: string, ruleId: string): GuardRuleHits | null;
  /** How often an entry of an IP list decided, or those without a row; null for never. */
  listEntryHits(tenantId: string, place: ListEntryPlace): ListEntryHits | null;
  /** Removes what was learned by endpoints whose learning was purged, or that are gone. */
  forgetLearned(): Promise<void>;
  /** The most frequent values of a site ('' for all of a tenant) in the hours of a span. */
  rankings(tenantId: string, siteId: string, startMs: number, endMs: number): Rankings;
  /** Security events as alerts count them, in a half-open span, oldest first. */
  alertCounts(tenantId: string, startMs: number, endMs: number): readonly CountStep[];
  /** The same, step by step, for long spans. */
  walkAlertCounts(tenantId: string, startMs: number, endMs: number): Iterable<CountStep>;
  /** What changed in them since `countsEvaluated` was last called. */
  countsMark(): CountsMark;
  /** Everything up to a mark was evaluated. */
  countsEvaluated(seen: CountsMark): Promise<void>;
}

const separator = '\u0000';
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Opens the counts in `kv`; `generationOf` says which endpoints may learn. */
export function openCounterStore(
  kv: Kv,
  generationOf: GenerationOf = nothingLearns,
  clock: Pick<Clock, 'nowMs'> = systemClock,
  placeOf: ClientsPlaceOf = () => null,
  tenantOfRun: TenantOfRun = () => null,
  listEntriesOf: ListEntriesOf = () => () => null,
): CounterStore {
  const held = new HeldCounts(kv);
  const changes = new EndpointChanges();
  return {
    alertCounts: (tenantId, startMs, endMs) => held.read(tenantId, startMs, endMs),
    walkAlertCounts: (tenantId, startMs, endMs) => walkAlertCounts(kv, tenantId, startMs, endMs),
    countsMark: () => readMark(kv),
    countsEvaluated: (seen) => kv.write((writer) => resetMark(writer, seen)),
    list: () => [...kv.range(prefixRange(countKey('')))].map(({ value }) => parse(value)),
    traffic: (resolution, tenantId, siteId, startMs, endMs) =>
      readTraffic(kv, resolution, tenantId, siteId, startMs, endMs),
    detection: (tenantId, siteId, contractId, startMs, endMs) =>
      readDetection(kv, tenantId, siteId, contractId, startMs, endMs),
    endpoints: (tenantId, siteId) => readEndpoints(kv, tenantId, siteId),
    endpointChanges: (tenantId, siteId) => changes.of(tenantId, siteId),
    learned: (assetId, generation) => readLearning(kv, assetId, generation),
    guardRuleHits: (tenantId, ruleId) => readGuardRuleHits(kv, tenantId, ruleId),
    listEntryHits: (tenantId, place) => readListEntryHits(kv, tenantId, place),
    shadow: (runId) => readShadowCounts(kv, runId),
    clients: (siteId, generation) => readClients(kv, siteId, generation),
    forgetLearned: () =>
      kv.write((writer) => {
        forgetLearning(writer, generationOf);
        forgetClients(writer, placeOf, clock.nowMs());
        forgetShadowCounts(writer, tenantOfRun);
      }),
    rankings: (tenantId, siteId, startMs, endMs) =>
      readRankings(kv, tenantId, siteId, startMs, endMs),
    ingest: async (batch, schemaVersion) => {
      if (crc32c(batch.payload) !== batch.crc32c) return 'crc';
      const counted = schemaVersion === metricPayloadVersion ? read(batch.payload) : null;
      if (counted === null) return 'schema';
      const runKey = `cm${separator}seq${separator}${batch.agentId}${separator}${batch.bootId}`;
      const atMs = Number(counted.toMs);
      // A node whose clock is fast must not make what others counted too old.
      const knownMs = Math.min(atMs, clock.nowMs());
      const run = kv.write((writer): IngestResult => {
        const seen = writer.get(runKey);
        if (seen !== undefined && BigInt(decoder.decode(seen)) >= batch.batchSeq) return 'repeated';
        writer.put(runKey, encoder.encode(String(batch.batchSeq)));
        addAlerts(writer, batch, atMs, knownMs, counted.deltas);
        addListEntryHits(writer, listEntriesOf, batch.tenantId, knownMs, counted.deltas);
        for (const delta of counted.deltas) {
          addRankings(writer, batch.tenantId, atMs, delta);
          addDetection(writer, batch.tenantId, delta);
          addGuardRuleHits(writer, batch.tenantId, knownMs, delta);
          addEndpoints(writer, batch.tenantId, atMs, delta);
          addLearning(writer, generationOf, batch.tenantId, atMs, delta);
          addShadowCounts(writer, tenantOfRun, batch.tenantId, delta);
          addClients(writer, placeOf, batch.tenantId, clock.nowMs(), delta);
          if (!countsRequests(delta)) continue;
          add(writer, batch.tenantId, delta);
          addTraffic(writer, batch.tenantId, atMs, delta);
        }
        forgetOld(writer, knownMs);
        return 'stored';
      });
      const result = await changes.during(batch.tenantId, counted.deltas, run);
      held.changed(atMs - alertLimits.countStepMs);
      return result;
    },
  };
}

function addAlerts(
  writer: KvWriter,
  { tenantId, agentId }: IncomingBatch,
  atMs: number,
  knownMs: number,
  deltas: readonly CounterDelta[],
): void {
  const added = addAlertCounts(writer, tenantId, agentId, atMs, deltas);
  if (added) forgetAlertCounts(writer, knownMs);
}

function forgetOld(writer: KvWriter, nowMs: number): void {
  forgetTraffic(writer, nowMs);
  forgetRankings(writer, nowMs);
  forgetDetection(writer, nowMs);
}

const nothingLearns: GenerationOf = () => null;

function read(payload: Uint8Array): CounterBatch | null {
  try {
    return fromBinary(CounterBatchSchema, payload);
  } catch {
    return null;
  }
}

/** Rankings and counts of APIs come apart from requests. */
function countsRequests({ requests, entries }: CounterDelta): boolean {
  return requests > 0n || entries.some(({ family }) => isSummed(family));
}

/** Families with rows of their own. */
const apartFamilies = new Set([
  alertFamily,
  detectionClientsFamily,
  guardRuleFamily,
  listHitFamily,
  ...shadowFamilies,
]);

function isSummed(family: string): boolean {
  if (apartFamilies.has(family)) return false;
  return !family.startsWith(rankedPrefix) && !family.startsWith(apiPrefix);
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
    if (!isSummed(family)) continue;
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
