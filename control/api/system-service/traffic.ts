/** SystemService/GetTrafficTimeseries and the traffic of the overview, from exact counts. */

import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import type { TimeRange } from '../../../proto/gen/waf/v1/common_pb.ts';
import type { SystemService } from '../../../proto/gen/waf/v1/system_pb.ts';
import type { Caller } from '../../auth/permissions.ts';
import { bucketsOf, type Buckets } from '../../domain/traffic-buckets.ts';
import { durationBoundsSeconds } from '../../observe/counter-store.ts';
import { addStep, emptyStep, type TrafficStep } from '../../observe/traffic-series.ts';
import { callerOf, type Uses } from '../context.ts';
import type { Method } from '../method.ts';
import { storedSite } from '../site-service/stored-site.ts';

const slowSeconds = 1;

/** Traffic by step; steps without traffic are points too. */
export function getTrafficTimeseries(
  parts: Uses<'store' | 'clock' | 'counters'>,
): Method<typeof SystemService, 'getTrafficTimeseries'> {
  return ({ timeRange, bucketSize, siteId }, context) => {
    const caller = callerOf(context);
    if (siteId !== '') storedSite(parts.store, caller, siteId, 'siteId');
    const buckets = bucketsIn(parts, timeRange, bucketSize);
    return { points: toPoints(trafficOf(parts, caller, siteId, buckets), buckets) };
  };
}

/** The steps that a request asks for. Errors: invalid_argument. */
export function bucketsIn(
  parts: Uses<'clock'>,
  timeRange: TimeRange | undefined,
  bucketSize: string,
): Buckets {
  const ms = (time: TimeRange['start']): number | undefined =>
    time === undefined ? undefined : timestampMs(time);
  const span = { startMs: ms(timeRange?.start), endMs: ms(timeRange?.end) };
  return bucketsOf(span, bucketSize, parts.clock.nowMs());
}

/** What was counted in each step, empty steps among them, oldest first. */
export function trafficOf(
  { counters }: Uses<'counters'>,
  { tenantId }: Caller,
  siteId: string,
  { startMs, endMs, stepSeconds, resolution }: Buckets,
): TrafficStep[] {
  const stepMs = stepSeconds * 1000;
  const steps: TrafficStep[] = [];
  for (let atMs = startMs; atMs < endMs; atMs += stepMs) steps.push(emptyStep(atMs));
  for (const row of counters.traffic(resolution, tenantId, siteId, startMs, endMs)) {
    const step = steps[Math.floor((row.atMs - startMs) / stepMs)];
    if (step !== undefined) addStep(step, row);
  }
  return steps;
}

/** Points of a series. */
export function toPoints(steps: readonly TrafficStep[], { stepSeconds }: Buckets) {
  return steps.map((step) => ({
    bucketStart: timestampFromMs(step.atMs),
    total: BigInt(step.requests),
    blocked: BigInt(step.blocked),
    bytesIn: BigInt(step.bytesIn),
    bytesOut: BigInt(step.bytesOut),
    intervalSeconds: BigInt(stepSeconds),
  }));
}

/** Everything that was counted in the steps together. */
export function totalOf(steps: readonly TrafficStep[]): TrafficStep {
  const total = emptyStep(steps[0]?.atMs ?? 0);
  for (const step of steps) addStep(total, step);
  return total;
}

/** Answers by status and speed. Those that an origin gave are the business. */
export function toQuality(total: TrafficStep) {
  const ofClass = (digit: string, counts = total.statuses): bigint =>
    BigInt(inClass(digit, counts).reduce((sum, [, count]) => sum + count, 0));
  const [served4xx, served5xx] = [inClass('4', total.served), inClass('5', total.served)];
  const requests = Object.entries(total.served)
    .filter(([status]) => /^\d/.test(status))
    .reduce((sum, [, count]) => sum + count, 0);
  const fast = durationBoundsSeconds.findIndex((bound) => bound >= slowSeconds);
  const slow = total.durations.slice(fast + 1).reduce((sum, count) => sum + count, 0);
  return {
    total: BigInt(total.requests),
    status2xx: ofClass('2'),
    status3xx: ofClass('3'),
    status4xx: ofClass('4'),
    status5xx: ofClass('5'),
    slowRequests: BigInt(slow),
    gatewayErrors: BigInt(total.gatewayErrors),
    durationSumMicros: BigInt(total.durationUs),
    durationP99Micros: BigInt(durationBelow(total.durations, 0.99)),
    businessRequests: BigInt(requests),
    businessStatus4xx: ofClass('4', total.served),
    businessStatus5xx: ofClass('5', total.served),
    businessSlowRequests: BigInt(total.served['slow'] ?? 0),
    businessVerySlowRequests: BigInt(total.served['very_slow'] ?? 0),
    businessDurationSumMicros: BigInt(total.served['duration_us'] ?? 0),
    topBusiness4xxStatus: Number(served4xx[0]?.[0] ?? 0),
    topBusiness4xxCount: BigInt(served4xx[0]?.[1] ?? 0),
    topBusiness5xxStatus: Number(served5xx[0]?.[0] ?? 0),
    topBusiness5xxCount: BigInt(served5xx[0]?.[1] ?? 0),
  };
}

/** Upper bound of the class of durations, in microseconds, that this share of answers reaches. */
function durationBelow(durations: readonly number[], share: number): number {
  const wanted = durations.reduce((sum, count) => sum + count, 0) * share;
  if (wanted === 0) return 0;
  let counted = 0;
  const at = durations.findIndex((count) => (counted += count) >= wanted);
  return Math.round((durationBoundsSeconds[at] ?? durationBoundsSeconds.at(-1)!) * 1e6);
}

/** Statuses of a class, the most frequent first. */
function inClass(digit: string, counts: TrafficStep['statuses']): [string, number][] {
  return Object.entries(counts)
    .filter(([status]) => status.startsWith(digit))
    .sort(([one, left], [other, right]) => right - left || (one < other ? -1 : 1));
}

/** Answers by status code, the most frequent first. */
export function toStatusRanking(total: TrafficStep, limit: number) {
  const sorted = Object.entries(total.statuses).sort(
    ([one, left], [other, right]) => right - left || (one < other ? -1 : 1),
  );
  const rest = sorted.slice(limit).reduce((sum, [, count]) => sum + count, 0);
  return {
    items: sorted.slice(0, limit).map(([key, count]) => ({ key, total: BigInt(count) })),
    otherTotal: BigInt(rest),
  };
}
