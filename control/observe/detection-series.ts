/**
 * What nodes counted of requests to documented APIs: by contract, in intervals of 10 seconds, exact
 * and kept for some days. Holds names of operations and places in documents, never a value of a
 * request.
 */

import type { CounterDelta } from '../../proto/gen/waf/runtime/v1/observation_pb.ts';
import { observationLimits } from '../limits/observation-limits.ts';
import { prefixRange, type KvReader, type KvWriter } from '../store/kv.ts';
import { separator, timeText } from './step-keys.ts';

/** Counts of one interval. */
export interface DetectionInterval {
  /** Milliseconds since the Unix epoch. */
  readonly startMs: number;
  readonly bindingId: string;
  /** By `<constraint> <result> <operation key>`. */
  readonly counts: Readonly<Record<string, number>>;
  /** By `<fingerprint> <JSON list of operation key, location, keyword and pointer>`. */
  readonly violations: Readonly<Record<string, number>>;
  /** Counts that found no place in this row: the row holds as many names as it may. */
  readonly omitted: number;
}

/** Families of counts of APIs begin so. */
export const apiPrefix = 'api_';

const countFamily = 'api_counts';
const violationFamily = 'api_violations';

interface Row {
  counts: Record<string, number>;
  violations: Record<string, number>;
  omitted: number;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Adds the counts of APIs among what a node counted. What is misshapen is left out. */
export function addDetection(writer: KvWriter, tenantId: string, delta: CounterDelta): void {
  const rows = new Map<string, Row>();
  for (const { family, key, count } of delta.entries) {
    if (family !== countFamily && family !== violationFamily) continue;
    const place = /^(\d{1,14}) (\S{1,64}) (\S{1,64}) (.{1,2048})$/s.exec(key);
    if (place === null) continue;
    const [, startMs, contractId, bindingId, name] = place;
    const id = rowKey(tenantId, delta.siteId, contractId!, Number(startMs), bindingId!);
    let row = rows.get(id);
    if (row === undefined) {
      const known = writer.get(id);
      row = known === undefined ? emptyRow() : parse(known);
      if (known === undefined) writer.put(timeKey(Number(startMs), id), new Uint8Array([1]));
      rows.set(id, row);
    }
    const into = family === countFamily ? row.counts : row.violations;
    const full = Object.keys(into).length >= observationLimits.detectionNamesMax;
    if (full && !Object.hasOwn(into, name!)) row.omitted += Number(count);
    else into[name!] = (into[name!] ?? 0) + Number(count);
  }
  for (const [id, row] of rows) writer.put(id, encoder.encode(JSON.stringify(row)));
}

/** Removes what is older than it is kept, some rows at a time. */
export function forgetDetection(writer: KvWriter, nowMs: number): void {
  const { start } = prefixRange(`di${separator}`);
  const end = `${start}${timeText(nowMs - observationLimits.detectionKeptMs)}`;
  const limit = observationLimits.trafficForgottenMax;
  for (const { key } of [...writer.range({ start, end, limit })]) {
    const [, , ...row] = key.split(separator);
    writer.remove(key);
    writer.remove(row.join(separator));
  }
}

/** Intervals that begin in a half-open span, oldest first; one row a binding. */
export function readDetection(
  reader: KvReader,
  tenantId: string,
  siteId: string,
  contractId: string,
  startMs: number,
  endMs: number,
): DetectionInterval[] {
  const start = rowKey(tenantId, siteId, contractId, startMs, '');
  const end = rowKey(tenantId, siteId, contractId, endMs, '');
  return [...reader.range({ start, end })].map(({ key, value }) => {
    const parts = key.split(separator);
    const bindingId = parts[5] ?? '-';
    const fields = { startMs: Number(parts[4]), bindingId: bindingId === '-' ? '' : bindingId };
    return { ...fields, ...parse(value) };
  });
}

function emptyRow(): Row {
  return { counts: {}, violations: {}, omitted: 0 };
}

function parse(bytes: Uint8Array): Row {
  const { counts, violations, omitted } = JSON.parse(decoder.decode(bytes)) as Row;
  return { counts, violations, omitted };
}

function rowKey(
  tenantId: string,
  siteId: string,
  contractId: string,
  startMs: number,
  bindingId: string,
): string {
  return ['d', tenantId, siteId, contractId, timeText(startMs), bindingId].join(separator);
}

function timeKey(startMs: number, row: string): string {
  return ['di', timeText(startMs), row].join(separator);
}
