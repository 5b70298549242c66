/**
 * Traffic over time: the exact counts of nodes by minute, kept for a day, and by hour, kept for 90
 * days; for each site and for all sites of a tenant. Knows nothing of batches.
 */

import type { CounterDelta } from '../../proto/gen/waf/runtime/v1/observation_pb.ts';
import { observationLimits } from '../limits/observation-limits.ts';
import { prefixRange, type KvReader, type KvWriter } from '../store/kv.ts';
import { everySite, separator, timeText } from './step-keys.ts';

/** What was counted in one step. */
export interface TrafficStep {
  /** Start of the step. */
  readonly atMs: number;
  requests: number;
  blocked: number;
  /** Refused by the front before any rule. */
  refused: number;
  bytesIn: number;
  bytesOut: number;
  durationUs: number;
  /** Requests in the classes of duration. */
  readonly durations: number[];
  gatewayErrors: number;
  /** Answers by status code. */
  readonly statuses: Record<string, number>;
  /** Answers of origins by status code, slow ones among them, and their time in microseconds. */
  readonly served: Record<string, number>;
}

/** Keys of the counts `served` that are no statuses. */
const servedKeys: readonly string[] = ['slow', 'very_slow', 'duration_us'];

/** Length of a step: rows are kept by minute and by hour. */
export type TrafficResolution = 'minute' | 'hour';

const stepsMs = { minute: 60_000, hour: 3_600_000 } as const;
const keptMs = {
  minute: observationLimits.trafficMinutesKeptMs,
  hour: observationLimits.trafficHoursKeptMs,
} as const;
/** Stands for all sites of a tenant. */
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Adds what a node counted, in the step of `atMs`. */
export function addTraffic(
  writer: KvWriter,
  tenantId: string,
  atMs: number,
  delta: CounterDelta,
): void {
  const siteId = delta.siteId.slice(0, observationLimits.countedNameCharsMax);
  for (const resolution of ['minute', 'hour'] as const) {
    const startMs = Math.floor(atMs / stepsMs[resolution]) * stepsMs[resolution];
    for (const site of siteId === '' ? [everySite] : [everySite, siteId]) {
      const key = rowKey(resolution, tenantId, site, startMs);
      const known = writer.get(key);
      const step = known === undefined ? emptyStep(startMs) : parse(known);
      addDelta(step, delta);
      writer.put(key, encoder.encode(JSON.stringify(step)));
      if (known === undefined) {
        writer.put(timeKey(resolution, startMs, tenantId, site), new Uint8Array([1]));
      }
    }
  }
}

/** Removes what is older than it is kept, some rows at a time. */
export function forgetTraffic(writer: KvWriter, nowMs: number): void {
  for (const resolution of ['minute', 'hour'] as const) {
    const { start } = prefixRange(`ti${separator}${resolution}${separator}`);
    const end = `${start}${timeText(nowMs - keptMs[resolution])}`;
    const limit = observationLimits.trafficForgottenMax;
    for (const { key } of [...writer.range({ start, end, limit })]) {
      const [, , time = '', tenantId = '', site = ''] = key.split(separator);
      writer.remove(key);
      writer.remove(rowKey(resolution, tenantId, site, Number(time)));
    }
  }
}

/** Steps of a site ('' for all) that begin in a half-open span, oldest first. */
export function readTraffic(
  reader: KvReader,
  resolution: TrafficResolution,
  tenantId: string,
  siteId: string,
  startMs: number,
  endMs: number,
): TrafficStep[] {
  const site = siteId === '' ? everySite : siteId;
  const start = rowKey(resolution, tenantId, site, startMs);
  const end = rowKey(resolution, tenantId, site, endMs);
  return [...reader.range({ start, end })].map(({ value }) => parse(value));
}

/** A step in which nothing happened. */
export function emptyStep(atMs: number): TrafficStep {
  const zero = { requests: 0, blocked: 0, refused: 0, bytesIn: 0, bytesOut: 0, durationUs: 0 };
  return { atMs, ...zero, durations: [], gatewayErrors: 0, statuses: {}, served: {} };
}

/** Adds `from` to `into`. */
export function addStep(into: TrafficStep, from: TrafficStep): void {
  into.requests += from.requests;
  into.blocked += from.blocked;
  into.refused += from.refused;
  into.bytesIn += from.bytesIn;
  into.bytesOut += from.bytesOut;
  into.durationUs += from.durationUs;
  into.gatewayErrors += from.gatewayErrors;
  from.durations.forEach((count, at) => {
    into.durations[at] = (into.durations[at] ?? 0) + count;
  });
  addCounts(into.statuses, from.statuses);
  addCounts(into.served, from.served);
}

function addCounts(into: Record<string, number>, from: Readonly<Record<string, number>>): void {
  for (const [key, count] of Object.entries(from)) into[key] = (into[key] ?? 0) + count;
}

function addDelta(step: TrafficStep, delta: CounterDelta): void {
  step.requests += Number(delta.requests);
  step.bytesIn += Number(delta.bytesIn);
  step.bytesOut += Number(delta.bytesOut);
  step.durationUs += Number(delta.durationUs);
  delta.durations.slice(0, observationLimits.countedKeysMax).forEach((count, at) => {
    step.durations[at] = (step.durations[at] ?? 0) + Number(count);
  });
  for (const { family, key, count } of delta.entries) {
    const number = Number(count);
    if (family === 'outcome' && key === 'blocked') step.blocked += number;
    if (family === 'outcome' && key === 'refused') step.refused += number;
    if (family === 'origin_error') step.gatewayErrors += number;
    const isStatus = /^[1-9]\d\d$/.test(key);
    if (family === 'status' && isStatus) addCounts(step.statuses, { [key]: number });
    const isServed = family === 'served' && (isStatus || servedKeys.includes(key));
    if (isServed) addCounts(step.served, { [key]: number });
  }
}

/** Rows of earlier releases do not tell what origins answered. */
function parse(bytes: Uint8Array): TrafficStep {
  const row = JSON.parse(decoder.decode(bytes)) as Partial<Pick<TrafficStep, 'served'>> &
    Omit<TrafficStep, 'served'>;
  return { ...row, served: row.served ?? {} };
}

function rowKey(
  resolution: TrafficResolution,
  tenantId: string,
  site: string,
  atMs: number,
): string {
  return ['t', resolution, tenantId, site, timeText(atMs)].join(separator);
}

function timeKey(
  resolution: TrafficResolution,
  atMs: number,
  tenantId: string,
  site: string,
): string {
  return ['ti', resolution, timeText(atMs), tenantId, site].join(separator);
}
