/**
 * How the decisions of two rulesets compare in one shadow run, with some requests: one row a run.
 * Takes only what a node of its tenant counted of a run that is known.
 */

import type { CounterDelta } from '../../proto/gen/waf/runtime/v1/observation_pb.ts';
import { observationLimits } from '../limits/observation-limits.ts';
import { isCountedText } from './counted-text.ts';
import type { KvReader, KvWriter } from '../store/kv.ts';
import { prefixRange } from '../store/kv.ts';
import { separator } from './step-keys.ts';

/** Families of these counts among what nodes send. */
const countFamily = 'shadow_counts';
const exampleFamily = 'shadow_examples';
/** Both of them. */
export const shadowFamilies: readonly string[] = [countFamily, exampleFamily];

/** What was counted in one run. */
export interface ShadowCounts {
  readonly counts: Readonly<Record<string, number>>;
  readonly examples: readonly StoredExample[];
}

/** A request on which the rulesets disagree. */
export interface StoredExample {
  readonly outcome: string;
  readonly requestId: string;
  readonly method: string;
  readonly path: string;
  readonly ruleIds: readonly number[];
}

/** The tenant of a run; null for one that is none. */
export type TenantOfRun = (runId: string) => string | null;

const outcomes = [
  ...['both_passed', 'both_blocked', 'only_current', 'only_new', 'not_compared'],
  'not_selected',
];
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Adds what a node counted. What is misshapen is left out. */
export function addShadowCounts(
  writer: KvWriter,
  tenantOf: TenantOfRun,
  tenantId: string,
  { entries }: CounterDelta,
): void {
  for (const { family, key, count } of entries) {
    if (family === countFamily) {
      const [runId = '', outcome = ''] = key.split(' ');
      if (!outcomes.includes(outcome) || tenantOf(runId) !== tenantId) continue;
      const { counts, examples } = readShadowCounts(writer, runId);
      const sum = (counts[outcome] ?? 0) + Number(count);
      put(writer, runId, { counts: { ...counts, [outcome]: sum }, examples });
    } else if (family === exampleFamily) addExample(writer, tenantOf, tenantId, key);
  }
}

/** What was counted in a run. */
export function readShadowCounts(reader: KvReader, runId: string): ShadowCounts {
  const bytes = reader.get(rowKey(runId));
  if (bytes === undefined) return { counts: {}, examples: [] };
  return JSON.parse(decoder.decode(bytes)) as ShadowCounts;
}

/** Removes the rows of runs that are gone. */
export function forgetShadowCounts(writer: KvWriter, tenantOf: TenantOfRun): void {
  for (const { key } of [...writer.range(prefixRange(rowKey('')))]) {
    if (tenantOf(key.slice(rowKey('').length)) === null) writer.remove(key);
  }
}

function addExample(writer: KvWriter, tenantOf: TenantOfRun, tenantId: string, key: string): void {
  const read = readExample(key);
  if (read === null || tenantOf(read.runId) !== tenantId) return;
  const { counts, examples } = readShadowCounts(writer, read.runId);
  const alike = examples.filter(({ outcome }) => outcome === read.example.outcome).length;
  if (alike >= observationLimits.shadowExamplesMax) return;
  put(writer, read.runId, { counts, examples: [...examples, read.example] });
}

function readExample(key: string): { runId: string; example: StoredExample } | null {
  let list: unknown;
  try {
    list = JSON.parse(key);
  } catch {
    // A node sent it: what is no list is left out like any other misshapen entry.
    return null;
  }
  if (!Array.isArray(list) || list.length !== 6) return null;
  const [runId, outcome, requestId, method, path, ruleIds] = list as unknown[];
  const texts = [runId, outcome, requestId, method, path];
  if (!texts.every(isCountedText)) return null;
  if (outcome !== 'only_current' && outcome !== 'only_new') return null;
  if (!Array.isArray(ruleIds) || ruleIds.length > 10 || !ruleIds.every(isRuleId)) return null;
  const example = { outcome, requestId, method, path, ruleIds } as StoredExample;
  return { runId: runId as string, example };
}

function isRuleId(id: unknown): boolean {
  return Number.isInteger(id) && Number(id) >= 0 && Number(id) <= 0x7fffffff;
}

function put(writer: KvWriter, runId: string, row: ShadowCounts): void {
  writer.put(rowKey(runId), encoder.encode(JSON.stringify(row)));
}

function rowKey(runId: string): string {
  return `sh${separator}${runId}`;
}
