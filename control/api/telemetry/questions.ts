/** Reads the parameters of telemetry requests. Errors are invalid_argument that name one. */

import { invalidField } from '../../domain/errors.ts';
import { observationLimits } from '../../limits/observation-limits.ts';

const units: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };
const dayMs = 86_400_000;
const depthDefault = 128;
const windowSecondsMax = 86_400;
const stepSeconds = { min: 10, max: 86_400 } as const;

/** What series and rankings are of. */
export const telemetryDimensions = ['status', 'path', 'ua', 'method', 'client'] as const;
/** One of them. */
export type TelemetryDimension = (typeof telemetryDimensions)[number];

/** A half-open span of milliseconds. */
export interface TelemetrySpan {
  readonly startMs: number;
  readonly endMs: number;
}

/** Refuses parameters that an endpoint does not know: a misspelt one must not change an answer. */
export function refuseUnknown(query: URLSearchParams, known: readonly string[]): void {
  for (const name of query.keys()) {
    if (!known.includes(name)) throw invalidField('query', `allowed are ${known.join(', ')}`);
    if (query.getAll(name).length > 1) throw invalidField(name, 'is given twice');
  }
}

/** `from` and `to`, RFC 3339; default the last day. */
export function readSpan(query: URLSearchParams, nowMs: number): TelemetrySpan {
  const endMs = readTime(query, 'to') ?? nowMs;
  const startMs = readTime(query, 'from') ?? endMs - dayMs;
  if (startMs >= endMs) throw invalidField('from', 'must lie before to');
  return { startMs, endMs };
}

function readTime(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name) ?? '';
  if (text === '') return undefined;
  const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/i;
  const ms = rfc3339.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(ms)) throw invalidField(name, 'must be RFC 3339, as 2026-01-31T12:00:00Z');
  return ms;
}

/** `window` in seconds; default a minute. */
export function readWindow(query: URLSearchParams): number {
  const seconds = readDuration(query.get('window') ?? '1m');
  if (seconds >= 1 && seconds <= windowSecondsMax) return seconds;
  throw invalidField('window', 'must be 1s to 1d, as 1m');
}

/** `step` as a text such as 5m, '' for a fitting one. */
export function readStep(query: URLSearchParams): string {
  const text = query.get('step') ?? '';
  const seconds = text === '' ? stepSeconds.min : readDuration(text);
  if (seconds >= stepSeconds.min && seconds <= stepSeconds.max) return text;
  throw invalidField('step', 'must be 10s to 1d, as 5m');
}

function readDuration(text: string): number {
  const [, count = '', unit = ''] = /^([1-9]\d{0,5})([smhd])$/.exec(text) ?? [];
  return Number(count) * (units[unit] ?? 0);
}

/** `dimension`; '' where none is given. */
export function readDimension(query: URLSearchParams): TelemetryDimension | '' {
  const text = query.get('dimension') ?? '';
  const found = telemetryDimensions.find((one) => one === text);
  if (found !== undefined || text === '') return found ?? '';
  throw invalidField('dimension', `must be one of ${telemetryDimensions.join(', ')}`);
}

/** `limit`; default 10. */
export function readLimit(query: URLSearchParams): number {
  return readNumber(
    query,
    'limit',
    observationLimits.answeredValues,
    observationLimits.answeredValuesMax,
  );
}

/** `depth` of a tree. */
export function readDepth(query: URLSearchParams): number {
  return readNumber(query, 'depth', depthDefault, depthDefault);
}

function readNumber(query: URLSearchParams, name: string, standard: number, max: number): number {
  const text = query.get(name) ?? '';
  if (text === '') return standard;
  const number = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (number >= 1 && number <= max) return number;
  throw invalidField(name, `must be 1 to ${max}`);
}
