/**
 * Counts of security events in steps of ten seconds, as alerts compare them with thresholds: exact,
 * in the transaction that takes a batch of counts. Combinations past a bound are counted without
 * their rules, marked as limited, so that no sum is ever too low without saying so.
 */

import { readAlertKey } from '../../base/alert-key.ts';
import type { CounterDelta } from '../../proto/gen/waf/runtime/v1/observation_pb.ts';
import type { CountStep, EventCount } from '../domain/alert/alert-facts.ts';
import { alertLimits } from '../limits/alert-limits.ts';
import { observationLimits } from '../limits/observation-limits.ts';
import { prefixRange, type KvReader, type KvWriter } from '../store/kv.ts';
import { severityName } from './attack-types.ts';
import { separator, timeText } from './step-keys.ts';

/** Family of the counts that are kept here. */
export const alertFamily = 'alert';

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const markKey = 'am';

/** What changed in the counts of all tenants since somebody last took notice. */
export interface CountsMark {
  /** Rises with every change; 0 for none ever. */
  readonly number: number;
  /** Earliest step that changed. */
  readonly fromMs: number;
}

const nothingChanged: CountsMark = { number: 0, fromMs: Number.MAX_SAFE_INTEGER };

/** Adds what a node counted until `atMs`; true when there was something. */
export function addAlertCounts(
  writer: KvWriter,
  tenantId: string,
  agentId: string,
  atMs: number,
  deltas: readonly CounterDelta[],
): boolean {
  const found = deltas.flatMap((delta) => countsIn(delta, agentId));
  if (found.length === 0) return false;
  const { countStepMs } = alertLimits;
  // Counting ended at this moment: at a step's very beginning it was the one before.
  const stepMs = Math.floor((atMs - 1) / countStepMs) * countStepMs;
  const key = rowKey(tenantId, stepMs);
  const counts = new Map(readRow(writer.get(key)).map((one) => [nameOf(one), one]));
  for (const one of found) addCount(counts, one);
  writer.put(key, encoder.encode(JSON.stringify([...counts.values()].map(toRow))));
  writer.put(timeKey(stepMs, tenantId), new Uint8Array([1]));
  const mark = readMark(writer);
  writeMark(writer, { number: mark.number + 1, fromMs: Math.min(mark.fromMs, stepMs) });
  return true;
}

/** Steps of a tenant that begin in a half-open span, oldest first. */
export function* walkAlertCounts(
  reader: KvReader,
  tenantId: string,
  startMs: number,
  endMs: number,
): Generator<CountStep> {
  const range = { start: rowKey(tenantId, startMs), end: rowKey(tenantId, endMs) };
  for (const { key, value } of reader.range(range)) {
    yield { atMs: Number(key.split(separator)[2]), counts: readRow(value) };
  }
}

/** What changed since the mark was last reset. */
export function readMark(reader: KvReader): CountsMark {
  const bytes = reader.get(markKey);
  return bytes === undefined ? nothingChanged : (JSON.parse(decoder.decode(bytes)) as CountsMark);
}

/** Notes that everything up to a mark was evaluated; what changed since stays marked. */
export function resetMark(writer: KvWriter, seen: CountsMark): void {
  const mark = readMark(writer);
  if (mark.number === seen.number) writeMark(writer, { ...mark, fromMs: nothingChanged.fromMs });
}

function writeMark(writer: KvWriter, mark: CountsMark): void {
  writer.put(markKey, encoder.encode(JSON.stringify(mark)));
}

function countsIn({ siteId, entries }: CounterDelta, agentId: string): EventCount[] {
  const site = siteId.slice(0, observationLimits.countedNameCharsMax);
  return entries.flatMap(({ family, key, count }) => {
    if (family !== alertFamily) return [];
    const read = readAlertKey(key);
    const { attackTypes = null, ruleIds = null } = read ?? {};
    const known = {
      attackTypes: (attackTypes ?? []).slice(0, alertLimits.countedRulesMax),
      ruleIds: (ruleIds ?? []).slice(0, alertLimits.countedRulesMax),
    };
    const { blocked = false, severity = -1 } = read ?? {};
    const limited = attackTypes === null || ruleIds === null;
    const number = Number(count);
    return [
      {
        ...{ siteId: site, agentId, blocked, severity: severityName(severity) },
        ...known,
        ...{ limited, count: number },
      },
    ];
  });
}

function addCount(counts: Map<string, EventCount>, one: EventCount): void {
  const full = counts.size >= alertLimits.countTuplesMax;
  const name = nameOf(one);
  const isNew = !counts.has(name);
  const place = full && isNew ? { ...one, attackTypes: [], ruleIds: [], limited: true } : one;
  const key = full && isNew ? nameOf(place) : name;
  const known = counts.get(key);
  counts.set(key, { ...place, count: place.count + (known?.count ?? 0) });
}

function nameOf({ count: _count, ...rest }: EventCount): string {
  return JSON.stringify(toRow({ ...rest, count: 0 }));
}

type Row = readonly [
  siteId: string,
  agentId: string,
  flags: number,
  severity: string,
  attacks: string,
  rules: string,
  count: number,
];

function toRow(one: EventCount): Row {
  const flags = Number(one.blocked) + 2 * Number(one.limited);
  const { siteId, agentId, severity, attackTypes, ruleIds, count } = one;
  return [siteId, agentId, flags, severity, attackTypes.join(','), ruleIds.join(','), count];
}

function readRow(bytes: Uint8Array | undefined): EventCount[] {
  if (bytes === undefined) return [];
  const list = (text: string): string[] => (text === '' ? [] : text.split(','));
  return (JSON.parse(decoder.decode(bytes)) as Row[]).map(
    ([siteId, agentId, flags, severity, attacks, rules, count]) => ({
      ...{ siteId, agentId, severity, count, blocked: (flags & 1) > 0, limited: (flags & 2) > 0 },
      ...{ attackTypes: list(attacks), ruleIds: list(rules) },
    }),
  );
}

/** Removes steps that are older than they are kept, some at a time. */
export function forgetAlertCounts(writer: KvWriter, nowMs: number): void {
  const { start } = prefixRange(`ai${separator}`);
  const end = `${start}${timeText(Math.max(0, nowMs - alertLimits.countsKeptMs))}`;
  const limit = alertLimits.countStepsForgottenMax;
  for (const { key } of [...writer.range({ start, end, limit })]) {
    const [, time = '', tenantId = ''] = key.split(separator);
    writer.remove(key);
    writer.remove(rowKey(tenantId, Number(time)));
  }
}

function rowKey(tenantId: string, atMs: number): string {
  return ['ac', tenantId, timeText(Math.max(0, atMs))].join(separator);
}

function timeKey(atMs: number, tenantId: string): string {
  return ['ai', timeText(atMs), tenantId].join(separator);
}
