/** AgentService/ListNodeMetricSamples, and how a node's load is kept and shown. */

import { fromJson, toJson, type JsonObject } from '@bufbuild/protobuf';
import { timestampFromMs, timestampMs, type Timestamp } from '@bufbuild/protobuf/wkt';
import {
  AgentMetricsSchema,
  type AgentMetrics,
  type AgentService,
} from '../../../proto/gen/waf/v1/agent_pb.ts';
import { observationLimits } from '../../limits/observation-limits.ts';
import { invalidField } from '../../domain/errors.ts';
import type { LoadReading, LoadStep } from '../../observe/node-load.ts';
import { callerOf, type Uses } from '../context.ts';
import type { Method } from '../method.ts';
import { requireNode } from './known-nodes.ts';

const standardPoints = 400;
const pointsMax = 2_000;
const minuteSeconds = 60;
const hourSeconds = 3_600;
/** Fields that are means with a fraction; other numbers are whole. */
const fractions = new Set([
  'cpuPercent',
  'memoryPercent',
  'wafAgentCpuPercent',
  'wafEngineDemandPercent',
]);

/** Load of a node over time: the mean of each step in which it told any, oldest first. */
export function listNodeMetricSamples(
  parts: Uses<'store' | 'clock' | 'load' | 'nodes'>,
): Method<typeof AgentService, 'listNodeMetricSamples'> {
  return ({ nodeId, startTime, endTime, maxPoints, bucketSeconds }, context) => {
    requireNode(parts, callerOf(context), nodeId, 'nodeId');
    const nowMs = parts.clock.nowMs();
    const span = spanOf(startTime, endTime, nowMs);
    const points = pointsOf(maxPoints);
    const stepMs = stepOf(span, points, bucketSeconds, nowMs) * 1000;
    const startMs = Math.floor(span.startMs / stepMs) * stepMs;
    const steps = parts.load.list(nodeId, startMs, span.endMs, stepMs);
    return { samples: steps.slice(-points).map(showStep) };
  };
}

/** The numbers of a node's load, and the rest. */
export function toReading(metrics: AgentMetrics): LoadReading {
  const json = toJson(AgentMetricsSchema, metrics, { alwaysEmitImplicit: true }) as JsonObject;
  const numbers: Record<string, number> = {};
  const last: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(json)) {
    const decimal = typeof value === 'string' && /^-?\d{1,20}$/.test(value);
    if (typeof value === 'number' || decimal) numbers[name] = Number(value);
    else last[name] = value;
  }
  return { numbers, last };
}

function showStep({ atMs, samples, sums, last }: LoadStep) {
  const means = Object.entries(sums).map(([name, sum]) => {
    const mean = sum / samples;
    return [name, fractions.has(name) ? Math.round(mean * 10) / 10 : Math.round(mean)];
  });
  const json = { ...(last as JsonObject), ...(Object.fromEntries(means) as JsonObject) };
  const metrics = fromJson(AgentMetricsSchema, json, { ignoreUnknownFields: true });
  return { observedAt: timestampFromMs(atMs), metrics };
}

interface Span {
  readonly startMs: number;
  readonly endMs: number;
}

function spanOf(start: Timestamp | undefined, end: Timestamp | undefined, nowMs: number): Span {
  const earliest = nowMs - observationLimits.loadHoursKeptMs;
  const endMs = end === undefined ? nowMs + 1 : timestampMs(end);
  const startMs = Math.max(earliest, start === undefined ? earliest : timestampMs(start));
  if (start !== undefined && end !== undefined && timestampMs(end) <= timestampMs(start)) {
    throw invalidField('endTime', 'must be after startTime');
  }
  return { startMs, endMs };
}

function pointsOf(maxPoints: number): number {
  if (maxPoints >= 0 && maxPoints <= pointsMax) return maxPoints === 0 ? standardPoints : maxPoints;
  throw invalidField('maxPoints', `must be at most ${pointsMax}; 0 acts as ${standardPoints}`);
}

/** Length of a step in seconds: as asked, longer where there would be too many points. */
function stepOf({ startMs, endMs }: Span, points: number, asked: number, nowMs: number): number {
  if (asked < 0) throw invalidField('bucketSeconds', 'must not be negative');
  const recent = startMs >= nowMs - observationLimits.loadMinutesKeptMs;
  const least = recent ? minuteSeconds : hourSeconds;
  const fitting = Math.max(0, endMs - startMs) / 1000 / points;
  return Math.ceil(Math.max(asked, fitting, least) / least) * least;
}
