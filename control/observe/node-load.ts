/**
 * The load that nodes reported, over time: by minute for two days, by hour for 30 days; for each
 * step the mean of the reports. Knows nothing of streams.
 */

import { observationLimits } from '../limits/observation-limits.ts';
import { prefixRange, type Kv, type KvReader, type KvWriter } from '../store/kv.ts';
import { separator, timeText } from './step-keys.ts';

/** Numbers of a node's load, by the names of AgentMetrics' fields. */
export type LoadNumbers = Readonly<Record<string, number>>;

/** What a node reported in one step. */
export interface LoadStep {
  /** The time of the last report. */
  readonly atMs: number;
  readonly samples: number;
  /** Sums; divided by `samples` they are means. */
  readonly sums: LoadNumbers;
  /** State of the overload guard and of its observations at the end, as JSON. */
  readonly last: Readonly<Record<string, unknown>>;
}

/** One reading of a node. */
export interface LoadReading {
  readonly numbers: LoadNumbers;
  readonly last: Readonly<Record<string, unknown>>;
}

/** Load that is kept. */
export interface NodeLoadStore {
  /** Keeps a reading. Rejects when the disk does not take it. */
  add(nodeId: string, atMs: number, reading: LoadReading): Promise<void>;
  /** Steps of `stepMs` in a half-open span that have readings, oldest first. Cost: a row each. */
  list(nodeId: string, startMs: number, endMs: number, stepMs: number): LoadStep[];
}

const minuteMs = 60_000;
const hourMs = 3_600_000;
const resolutions = [
  ['m', minuteMs, observationLimits.loadMinutesKeptMs],
  ['h', hourMs, observationLimits.loadHoursKeptMs],
] as const;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Opens the load in `kv`. */
export function openNodeLoadStore(kv: Kv): NodeLoadStore {
  return {
    add: (nodeId, atMs, reading) =>
      kv.write((writer) => {
        for (const [name, stepMs, keptMs] of resolutions) {
          const key = rowKey(name, nodeId, Math.floor(atMs / stepMs) * stepMs);
          const known = writer.get(key);
          const step = { atMs, samples: 1, sums: reading.numbers, last: reading.last };
          const next = known === undefined ? step : joined(parse(known), step);
          writer.put(key, encoder.encode(JSON.stringify(next)));
          if (known === undefined) forget(writer, name, nodeId, atMs - keptMs);
        }
      }),
    list: (nodeId, startMs, endMs, stepMs) => read(kv, nodeId, startMs, endMs, stepMs),
  };
}

/** Two steps as one, the second being the later. */
function joined(first: LoadStep, second: LoadStep): LoadStep {
  const sums: Record<string, number> = { ...first.sums };
  for (const [name, value] of Object.entries(second.sums)) sums[name] = (sums[name] ?? 0) + value;
  const { atMs, last } = second;
  return { atMs, last, samples: first.samples + second.samples, sums };
}

function read(
  reader: KvReader,
  nodeId: string,
  startMs: number,
  endMs: number,
  stepMs: number,
): LoadStep[] {
  const name = stepMs % hourMs === 0 ? 'h' : 'm';
  const range = { start: rowKey(name, nodeId, startMs), end: rowKey(name, nodeId, endMs) };
  const steps: LoadStep[] = [];
  let lastBucket = NaN;
  for (const { value } of reader.range(range)) {
    const step = parse(value);
    const bucket = Math.floor(step.atMs / stepMs);
    const before = steps.at(-1);
    if (before !== undefined && bucket === lastBucket)
      steps[steps.length - 1] = joined(before, step);
    else steps.push(step);
    lastBucket = bucket;
  }
  return steps;
}

function forget(writer: KvWriter, name: string, nodeId: string, beforeMs: number): void {
  const { start } = prefixRange(rowPrefix(name, nodeId));
  const end = rowKey(name, nodeId, beforeMs);
  const limit = observationLimits.loadForgottenMax;
  for (const { key } of [...writer.range({ start, end, limit, keysOnly: true })])
    writer.remove(key);
}

function parse(bytes: Uint8Array): LoadStep {
  return JSON.parse(decoder.decode(bytes)) as LoadStep;
}

function rowPrefix(name: string, nodeId: string): string {
  return ['n', name, nodeId, ''].join(separator);
}

function rowKey(name: string, nodeId: string, atMs: number): string {
  return `${rowPrefix(name, nodeId)}${timeText(atMs)}`;
}
