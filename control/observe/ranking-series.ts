/**
 * The most frequent paths, programs, methods and protocols over time: by hour, for each site and
 * for all of a tenant, bounded in number and kept for some days. A reported count is never above
 * the true one; rare values may be missing.
 */

import { canonicalHttpVersion } from '../../base/http-version.ts';
import type { CounterDelta } from '../../proto/gen/waf/runtime/v1/observation_pb.ts';
import { observationLimits } from '../limits/observation-limits.ts';
import { TopCounts, type TopCount } from '../../base/top-counts.ts';
import { prefixRange, type KvReader, type KvWriter } from '../store/kv.ts';
import { everySite, separator, timeText } from './step-keys.ts';

/** What is ranked, as nodes name it. */
export const rankedDimensions = [
  'path',
  'user_agent',
  'method',
  'http_version',
  'transport_version',
] as const;
/** One of them. */
export type RankedDimension = (typeof rankedDimensions)[number];

/** Requests with one value. */
export interface RankedValue {
  readonly key: string;
  readonly total: number;
  readonly blocked: number;
}

/** Values of each dimension, the most frequent first. */
export type Rankings = Readonly<Record<RankedDimension, readonly RankedValue[]>>;

/** Families of counts that are rankings. */
export const rankedPrefix = 'top_';
/** Rankings are kept by so long steps. */
export const rankingStepMs = 3_600_000;

type StoredValue = readonly [key: string, rank: number, total: number, blocked: number];
type StoredRow = Readonly<Partial<Record<RankedDimension, readonly StoredValue[]>>>;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Adds the rankings among what a node counted, in the hour of `atMs`. */
export function addRankings(
  writer: KvWriter,
  tenantId: string,
  atMs: number,
  delta: CounterDelta,
): void {
  const found = rankedIn(delta);
  if (found.size === 0) return;
  const siteId = delta.siteId.slice(0, observationLimits.countedNameCharsMax);
  const startMs = Math.floor(atMs / rankingStepMs) * rankingStepMs;
  for (const site of siteId === '' ? [everySite] : [everySite, siteId]) {
    const key = rowKey(tenantId, site, startMs);
    const known = writer.get(key);
    const row = known === undefined ? {} : parse(known);
    writer.put(key, encoder.encode(JSON.stringify(merged(row, found))));
    if (known === undefined) writer.put(timeKey(startMs, tenantId, site), new Uint8Array([1]));
  }
}

/** Removes what is older than it is kept, some rows at a time. */
export function forgetRankings(writer: KvWriter, nowMs: number): void {
  const { start } = prefixRange(`ki${separator}`);
  const end = `${start}${timeText(nowMs - observationLimits.rankingsKeptMs)}`;
  for (const { key } of [
    ...writer.range({ start, end, limit: observationLimits.trafficForgottenMax }),
  ]) {
    const [, time = '', tenantId = '', site = ''] = key.split(separator);
    writer.remove(key);
    writer.remove(rowKey(tenantId, site, Number(time)));
  }
}

/** Rankings of a site ('' for all) in the hours that a half-open span touches. */
export function readRankings(
  reader: KvReader,
  tenantId: string,
  siteId: string,
  startMs: number,
  endMs: number,
): Rankings {
  const site = siteId === '' ? everySite : siteId;
  const first = Math.floor(startMs / rankingStepMs) * rankingStepMs;
  const range = { start: rowKey(tenantId, site, first), end: rowKey(tenantId, site, endMs) };
  const sums = emptySums();
  for (const { value } of reader.range(range)) {
    const row = parse(value);
    for (const dimension of rankedDimensions) {
      for (const [stored, , total, blocked] of row[dimension] ?? []) {
        // Rows of earlier programs have HTTP/2.0.
        const key = dimension === 'http_version' ? canonicalHttpVersion(stored) : stored;
        const sum = sums[dimension].get(key) ?? { key, total: 0, blocked: 0 };
        const next = { key, total: sum.total + total, blocked: sum.blocked + blocked };
        sums[dimension].set(key, next);
      }
    }
  }
  const ranked = (dimension: RankedDimension): RankedValue[] =>
    [...sums[dimension].values()].sort(byTotal);
  return {
    path: ranked('path'),
    user_agent: ranked('user_agent'),
    method: ranked('method'),
    http_version: ranked('http_version'),
    transport_version: ranked('transport_version'),
  };
}

function byTotal(left: RankedValue, right: RankedValue): number {
  return right.total - left.total || (left.key < right.key ? -1 : 1);
}

function emptySums(): Record<RankedDimension, Map<string, RankedValue>> {
  return {
    path: new Map(),
    user_agent: new Map(),
    method: new Map(),
    http_version: new Map(),
    transport_version: new Map(),
  };
}

type Ranked = Map<RankedDimension, Map<string, { total: number; blocked: number }>>;

function rankedIn({ entries }: CounterDelta): Ranked {
  const found: Ranked = new Map();
  for (const { family, key, count } of entries) {
    const name = /^top_(\w+?)(_blocked)?$/.exec(family);
    const dimension = rankedDimensions.find((one) => one === name?.[1]);
    if (dimension === undefined) continue;
    let values = found.get(dimension);
    if (values === undefined) found.set(dimension, (values = new Map()));
    const text = key.slice(0, observationLimits.rankedCharactersMax);
    const value = values.get(text) ?? { total: 0, blocked: 0 };
    if (name?.[2] === undefined) value.total += Number(count);
    else value.blocked += Number(count);
    values.set(text, value);
  }
  return found;
}

function merged(row: StoredRow, found: Ranked): StoredRow {
  const next: Partial<Record<RankedDimension, readonly StoredValue[]>> = { ...row };
  for (const [dimension, values] of found) {
    const counts = new TopCounts(observationLimits.rankedValuesMax);
    for (const [key, rank, total, blocked] of row[dimension] ?? []) {
      counts.restore({ key, rank, total, blocked });
    }
    for (const [key, { total, blocked }] of values) {
      counts.add(key, key.length, total, Math.min(blocked, total));
    }
    next[dimension] = counts.list().map(toStored);
  }
  return next;
}

function toStored({ key, rank, total, blocked }: TopCount): StoredValue {
  return [key, rank, total, blocked];
}

function parse(bytes: Uint8Array): StoredRow {
  return JSON.parse(decoder.decode(bytes)) as StoredRow;
}

function rowKey(tenantId: string, site: string, atMs: number): string {
  return ['k', tenantId, site, timeText(atMs)].join(separator);
}

function timeKey(atMs: number, tenantId: string, site: string): string {
  return ['ki', timeText(atMs), tenantId, site].join(separator);
}
