/** What telemetry endpoints answer: rates, series, rankings and the tree of paths. */

import { invalidField } from '../../domain/errors.ts';
import { bucketsOf, type Buckets } from '../../domain/traffic-buckets.ts';
import type { Caller } from '../../auth/permissions.ts';
import { plainFilter } from '../../observe/query.ts';
import { rankingStepMs, type RankedValue } from '../../observe/ranking-series.ts';
import type { TrafficStep } from '../../observe/traffic-series.ts';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { TimeRangeSchema } from '../../../proto/gen/waf/v1/common_pb.ts';
import { create } from '@bufbuild/protobuf';
import type { ApiParts, Uses } from '../context.ts';
import { storedSite } from '../site-service/stored-site.ts';
import { totalOf, trafficOf } from '../system-service/traffic.ts';
import { endpointsOf, isHidden, showEndpoint } from './endpoints.ts';
import { pathTree } from './path-tree.ts';
import {
  readDepth,
  readDimension,
  readLimit,
  readSpan,
  readStep,
  readWindow,
  refuseUnknown,
  type TelemetrySpan,
} from './questions.ts';

const minuteMs = 60_000;
/** Endpoints of one answer; `base` narrows the question. */
const endpointsShownMax = 1_000;

/** Ranked dimensions by the names of the endpoint. */
const ranked = { path: 'path', ua: 'user_agent', method: 'method' } as const;

/** One question. */
export interface TelemetryQuestion {
  readonly parts: ApiParts;
  readonly caller: Caller;
  readonly query: URLSearchParams;
  readonly signal: AbortSignal;
}

/** Requests a second; whole minutes are counted, the present one as far as it is. */
export function qps({ parts, caller, query }: TelemetryQuestion) {
  refuseUnknown(query, ['site', 'window']);
  const site = readSite(parts, caller, query);
  const windowSeconds = readWindow(query);
  const endMs = parts.clock.nowMs();
  const startMs = Math.floor((endMs - windowSeconds * 1000) / minuteMs) * minuteMs;
  const buckets = { startMs, endMs, stepSeconds: 60, resolution: 'minute' } as const;
  const { requests, blocked } = totalOf(trafficOf(parts, caller, site, buckets));
  const seconds = (endMs - startMs) / 1000;
  return {
    site,
    window_seconds: windowSeconds,
    ...spanOf({ startMs, endMs }),
    requests,
    blocked,
    qps: requests / seconds,
    blocked_qps: blocked / seconds,
  };
}

/** Counts by step, of all requests or of each value of a dimension. */
export function series({ parts, caller, query }: TelemetryQuestion) {
  refuseUnknown(query, ['site', 'from', 'to', 'step', 'dimension', 'limit']);
  const site = readSite(parts, caller, query);
  const dimension = readDimension(query);
  const limit = readLimit(query);
  const buckets = bucketsFor(parts, query, dimension);
  const steps = trafficOf(parts, caller, site, buckets);
  const head = { site, step_seconds: buckets.stepSeconds, ...spanOf(buckets) };
  if (dimension === '') return { ...head, points: steps.map(pointOf) };
  if (dimension === 'client') {
    throw invalidField('dimension', 'client has a ranking (topk) only: addresses have no series');
  }
  const rows =
    dimension === 'status'
      ? steps.map((step) => Object.entries(step.statuses))
      : steps.map(({ atMs }) => {
          const endMs = atMs + buckets.stepSeconds * 1000;
          const found = parts.counters.rankings(caller.tenantId, site, atMs, endMs);
          return found[ranked[dimension]].map(({ key, total }) => [key, total] as const);
        });
  return { ...head, dimension, series: seriesOf(steps, rows, limit) };
}

/** The most frequent values of a dimension. */
export async function topk({ parts, caller, query, signal }: TelemetryQuestion) {
  refuseUnknown(query, ['site', 'from', 'to', 'step', 'dimension', 'limit']);
  const site = readSite(parts, caller, query);
  const dimension = readDimension(query);
  if (dimension === '') throw invalidField('dimension', 'is required');
  const limit = readLimit(query);
  const span = readSpan(query, parts.clock.nowMs());
  if (dimension === 'client') {
    const timeRange = create(TimeRangeSchema, {
      start: timestampFromMs(span.startMs),
      end: timestampFromMs(span.endMs),
    });
    const filter = plainFilter(caller.tenantId, timeRange, site);
    const question = { ask: 'ranking', kind: 'access', filter, field: 'client', limit } as const;
    const found = await parts.events.ask(question, signal);
    const entries = found.entries.map(({ key, count }) => ({ key, requests: Number(count) }));
    // What the log policy keeps of requests, not all of them.
    return { site, dimension, ...spanOf(span), exact: false, source: 'retained_details', entries };
  }
  const buckets = bucketsOf(span, '', parts.clock.nowMs());
  const head = { site, dimension };
  if (dimension === 'status') {
    const { statuses } = totalOf(trafficOf(parts, caller, site, buckets));
    const entries = Object.entries(statuses)
      .map(([key, requests]) => ({ key, requests }))
      .sort((one, other) => other.requests - one.requests)
      .slice(0, limit);
    return { ...head, ...spanOf(buckets), exact: true, source: 'counters', entries };
  }
  const { values, hours, all } = rankedIn(parts, caller, site, span, ranked[dimension]);
  const entries = values.slice(0, limit).map(({ key, total, blocked }) => {
    return { key, requests: total, blocked };
  });
  const shown = entries.reduce((sum, one) => sum + one.requests, 0);
  const other_requests = Math.max(0, all.requests - shown);
  // A bounded sketch never overstates a value; what it could not tell apart is in the others.
  return { ...head, ...spanOf(hours), exact: false, source: 'sketch', entries, other_requests };
}

/**
 * Paths of a site as a tree, with what was counted below each, and its endpoints: the first ones,
 * how many there are, and the requests whose endpoint found no place.
 */
export function apiTree({ parts, caller, query }: TelemetryQuestion) {
  refuseUnknown(query, ['site', 'base', 'depth', 'from', 'to', 'hidden']);
  const site = readSite(parts, caller, query);
  if (site === '') throw invalidField('site', 'is required');
  const base = query.get('base') ?? '/';
  if (!base.startsWith('/')) throw invalidField('base', 'must begin with a slash');
  const depth = readDepth(query);
  const hidden = query.get('hidden') ?? 'false';
  if (hidden !== 'true' && hidden !== 'false')
    throw invalidField('hidden', 'must be true or false');
  const span = readSpan(query, parts.clock.nowMs());
  const { values, hours, all } = rankedIn(parts, caller, site, span, 'path');
  const { nodes, requests } = pathTree(values, base, depth);
  const head = { site, base, depth, ...spanOf(hours), exact: false, source: 'sketch' };
  const prefix = base.endsWith('/') ? base : `${base}/`;
  const found = endpointsOf(parts, caller.tenantId, site)
    .filter(({ path }) => path === base || path.startsWith(prefix))
    .filter((one) => hidden === 'true' || !isHidden(one));
  const endpoints = found.slice(0, endpointsShownMax).map(showEndpoint);
  const { omitted } = parts.counters.endpoints(caller.tenantId, site);
  const totals = {
    total_requests: all.requests,
    total_endpoints: found.length,
    // Of the whole site: what found no place has no path to ask by.
    omitted_requests: omitted,
  };
  return { ...head, nodes, requests, ...totals, endpoints };
}

function rankedIn(
  parts: Uses<'counters'>,
  caller: Caller,
  site: string,
  span: TelemetrySpan,
  dimension: 'path' | 'user_agent' | 'method',
) {
  const startMs = Math.floor(span.startMs / rankingStepMs) * rankingStepMs;
  const hours = { startMs, endMs: span.endMs };
  const { tenantId } = caller;
  const values: readonly RankedValue[] = parts.counters.rankings(
    ...([tenantId, site, startMs, span.endMs] as const),
  )[dimension];
  const all = totalOf(parts.counters.traffic('hour', tenantId, site, startMs, span.endMs));
  return { values, hours, all };
}

/** The values with the most requests in all steps, each with its count by step. */
function seriesOf(
  steps: readonly TrafficStep[],
  rows: readonly (readonly (readonly [string, number])[])[],
  limit: number,
) {
  const totals = new Map<string, number>();
  for (const row of rows) {
    for (const [key, count] of row) totals.set(key, (totals.get(key) ?? 0) + count);
  }
  const top = [...totals].sort(([, one], [, other]) => other - one).slice(0, limit);
  const counts = rows.map((row) => new Map(row));
  return top.map(([key, requests]) => ({
    key,
    requests,
    points: steps.map(({ atMs }, at) => {
      return { time: timeText(atMs), requests: counts[at]!.get(key) ?? 0 };
    }),
  }));
}

function pointOf({ atMs, requests, blocked, bytesIn, bytesOut }: TrafficStep) {
  return { time: timeText(atMs), requests, blocked, bytes_in: bytesIn, bytes_out: bytesOut };
}

/** Rankings are kept by the hour. */
function bucketsFor(parts: Uses<'clock'>, query: URLSearchParams, dimension: string): Buckets {
  const nowMs = parts.clock.nowMs();
  const span = readSpan(query, nowMs);
  const step = readStep(query);
  const found = bucketsOf(span, step, nowMs);
  const byHour = dimension === 'path' || dimension === 'ua' || dimension === 'method';
  if (!byHour || found.resolution === 'hour') return found;
  return bucketsOf(span, `${Math.ceil(found.stepSeconds / 3600)}h`, nowMs);
}

function readSite(parts: Uses<'store'>, caller: Caller, query: URLSearchParams): string {
  const site = query.get('site') ?? '';
  return site === '' ? '' : storedSite(parts.store, caller, site, 'site').id;
}

function spanOf({ startMs, endMs }: TelemetrySpan) {
  return { from: timeText(startMs), to: timeText(endMs) };
}

function timeText(ms: number): string {
  return new Date(ms).toISOString();
}
