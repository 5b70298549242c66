/**
 * What nodes counted of clients that show signs in values, by site, in bounded number. Takes only
 * what a site of its tenant sent, of the present generation.
 */

import { createHash } from 'node:crypto';
import type { CounterDelta } from '../../proto/gen/waf/runtime/v1/observation_pb.ts';
import {
  countOf,
  readBits,
  writeBits,
  type LearnedRow,
} from '../domain/policy/detection-learning.ts';
import { detectionLearningLimits as limits } from '../limits/detection-learning-limits.ts';
import { prefixRange, type KvReader, type KvWriter } from '../store/kv.ts';
import { isCountedText } from './counted-text.ts';
import { separator } from './step-keys.ts';

/** Family of these counts among what nodes send. */
export const detectionClientsFamily = 'detection_clients';

/** Whose counts are taken; null for a site that is none. */
export interface ClientsPlace {
  readonly tenantId: string;
  readonly generation: number;
}

/** Finds it by the site. */
export type ClientsPlaceOf = (siteId: string) => ClientsPlace | null;

type StoredRow = { -readonly [K in keyof LearnedRow]: LearnedRow[K] } & {
  generation: number;
  lastMs: number;
};

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const hourMs = 3_600_000;

/** Adds what a node counted of one site. What is misshapen is left out. */
export function addClients(
  writer: KvWriter,
  placeOf: ClientsPlaceOf,
  tenantId: string,
  nowMs: number,
  { siteId, entries }: CounterDelta,
): void {
  const own = entries.filter(({ family }) => family === detectionClientsFamily);
  if (own.length === 0) return;
  const place = placeOf(siteId);
  if (place?.tenantId !== tenantId) return;
  for (const { key, count } of own) {
    const delta = readKey(key);
    if (delta === null || delta.generation !== place.generation) continue;
    // A node whose clock is wrong must not make other hours of it.
    if (Math.abs(delta.hour * hourMs - nowMs) > limits.hoursKept * hourMs) continue;
    addDelta(writer, siteId, delta, Number(count), nowMs);
  }
}

/** What was counted of a site in its present generation. */
export function readClients(reader: KvReader, siteId: string, generation: number): LearnedRow[] {
  return [...reader.range(prefixRange(rowKey(siteId, '')))]
    .map(({ value }) => parse(value))
    .filter((row) => row.generation === generation);
}

/** Removes what belongs to no site, to an earlier generation, or was not seen for long. */
export function forgetClients(writer: KvWriter, placeOf: ClientsPlaceOf, nowMs: number): void {
  for (const { key, value } of [...writer.range(prefixRange(`dc${separator}`))]) {
    const [, siteId = ''] = key.split(separator);
    const row = parse(value);
    const old = row.lastMs < nowMs - limits.hoursKept * hourMs;
    if (old || placeOf(siteId)?.generation !== row.generation) writer.remove(key);
  }
}

interface Delta {
  readonly generation: number;
  readonly hour: number;
  readonly value: readonly [family: string, method: string, path: string, name: string];
  readonly bits: readonly number[];
  readonly sample: string;
}

function readKey(key: string): Delta | null {
  let list: unknown;
  try {
    list = JSON.parse(key);
  } catch {
    // A node sent it: what is no list is left out like any other misshapen entry.
    return null;
  }
  if (!Array.isArray(list) || list.length !== 8) return null;
  const [generation, hour, family, method, path, name, bits, sample] = list as unknown[];
  const value = [family, method, path, name];
  const texts = [...value, sample].every(isCountedText);
  if (!texts || !Number.isInteger(generation) || !Number.isInteger(hour)) return null;
  if (!Array.isArray(bits) || !bits.every(isBit)) return null;
  return {
    ...{ generation: generation as number, hour: hour as number, bits },
    ...{ value: value as unknown as Delta['value'], sample: sample as string },
  };
}

function isBit(bit: unknown): bit is number {
  return Number.isInteger(bit) && Number(bit) >= 0 && Number(bit) < limits.sketchBits;
}

function addDelta(
  writer: KvWriter,
  siteId: string,
  { generation, hour, value, bits, sample }: Delta,
  requests: number,
  nowMs: number,
): void {
  const id = createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 12);
  const key = rowKey(siteId, id);
  const known = writer.get(key);
  const before = known === undefined ? null : parse(known);
  const current = before?.generation === generation ? before : null;
  if (current === null) makeRoom(writer, siteId);
  const [family, method, path, name] = value;
  const row: StoredRow = current ?? {
    ...{ id, family, method, path, name, generation },
    ...{ hours: {}, samples: [], lastMs: 0 },
  };
  const hours = { ...row.hours };
  const one = hours[String(hour)] ?? { bits: '', requests: 0 };
  const sketch = readBits(one.bits);
  for (const bit of bits) sketch[bit >> 3]! |= 1 << (bit & 7);
  const counted = { requests: one.requests + requests, clients: countOf(sketch) };
  hours[String(hour)] = { bits: writeBits(sketch), ...counted };
  const oldest = Math.floor(nowMs / hourMs) - limits.hoursKept;
  row.hours = Object.fromEntries(Object.entries(hours).filter(([at]) => Number(at) > oldest));
  row.samples = [...row.samples.filter((other) => other !== sample), sample].slice(
    -limits.samplesMax,
  );
  row.lastMs = Math.max(row.lastMs, nowMs);
  writer.put(key, encoder.encode(JSON.stringify(row)));
}

/** The value that the fewest clients showed gives its place to a new one. */
function makeRoom(writer: KvWriter, siteId: string): void {
  const rows = [...writer.range(prefixRange(rowKey(siteId, '')))];
  if (rows.length < limits.valuesPerSiteMax) return;
  const times = rows.map(({ key, value }) => ({ key, ...parse(value) }));
  const fewest = times.reduce((one, other) => (isSpare(other, one) ? other : one));
  writer.remove(fewest.key);
}

/** Clients are added up over the hours: what few make up drives out nothing that is regular. */
function isSpare(row: StoredRow, than: StoredRow): boolean {
  const fewer = clientHours(row) - clientHours(than);
  return fewer === 0 ? row.lastMs < than.lastMs : fewer < 0;
}

function clientHours({ hours }: StoredRow): number {
  return Object.values(hours).reduce((sum, { clients = 1 }) => sum + clients, 0);
}

function parse(bytes: Uint8Array): StoredRow {
  return JSON.parse(decoder.decode(bytes)) as StoredRow;
}

function rowKey(siteId: string, id: string): string {
  return `dc${separator}${siteId}${separator}${id}`;
}
