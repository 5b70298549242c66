/**
 * How often each rule of a guard decided, and when last: one row a rule, in bounded number. Knows
 * nothing of what the rules are.
 */

import type { CounterDelta } from '../../proto/gen/waf/runtime/v1/observation_pb.ts';
import { observationLimits } from '../limits/observation-limits.ts';
import { prefixRange, type KvReader, type KvWriter } from '../store/kv.ts';
import { separator } from './step-keys.ts';

/** Family of these counts among what nodes send. */
export const guardRuleFamily = 'guard_rule';

/** The count of one rule. */
export interface GuardRuleHits {
  readonly hits: number;
  readonly lastMs: number;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Adds what a node counted. Cost: for new rules, one reading of all rows of the tenant. */
export function addGuardRuleHits(
  writer: KvWriter,
  tenantId: string,
  atMs: number,
  { entries }: CounterDelta,
): void {
  let times: Map<string, number> | null = null;
  for (const { family, key: ruleId, count } of entries) {
    if (family !== guardRuleFamily) continue;
    const key = rowKey(tenantId, ruleId.slice(0, observationLimits.countedNameCharsMax));
    const known = readRow(writer, key);
    if (known === null) makeRoom(writer, (times ??= readTimes(writer, tenantId)));
    const { hits = 0, lastMs = 0 } = known ?? {};
    const row = { hits: hits + Number(count), lastMs: Math.max(lastMs, atMs) };
    writer.put(key, encoder.encode(JSON.stringify(row)));
    times?.set(key, row.lastMs);
  }
}

/** The count of a rule; null where it never decided. */
export function readGuardRuleHits(
  reader: KvReader,
  tenantId: string,
  ruleId: string,
): GuardRuleHits | null {
  return readRow(reader, rowKey(tenantId, ruleId));
}

/** By row: when its rule decided last. */
function readTimes(writer: KvWriter, tenantId: string): Map<string, number> {
  const rows = writer.range(prefixRange(rowKey(tenantId, '')));
  return new Map([...rows].map(({ key, value }) => [key, parse(value).lastMs]));
}

/** The rule that decided nothing for longest gives its place to a new one. */
function makeRoom(writer: KvWriter, times: Map<string, number>): void {
  if (times.size < observationLimits.countedGuardRulesMax) return;
  const [oldest] = [...times].reduce((one, other) => (other[1] < one[1] ? other : one));
  writer.remove(oldest);
  times.delete(oldest);
}

function readRow(reader: KvReader, key: string): GuardRuleHits | null {
  const bytes = reader.get(key);
  return bytes === undefined ? null : parse(bytes);
}

function parse(bytes: Uint8Array): GuardRuleHits {
  return JSON.parse(decoder.decode(bytes)) as GuardRuleHits;
}

function rowKey(tenantId: string, ruleId: string): string {
  return ['gr', tenantId, ruleId].join(separator);
}
