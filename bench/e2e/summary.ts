/** The step from single runs to figures: medians, spread, ratios taken within a round. Pure. */

import type { TargetFacts } from './target.ts';

/** One run at half of the rate that a target reached. */
export interface HalfLoad {
  /** The rate by that of the full load; near 0.5. */
  readonly share: number;
  readonly p50Us: number;
  readonly p99Us: number;
  readonly p999Us: number;
  readonly faults: readonly string[];
}

/** One run of one target under one workload. */
export interface RunRecord {
  readonly workload: string;
  readonly target: string;
  readonly round: number;
  readonly requests: number;
  readonly seconds: number;
  readonly requestsPerSecond: number;
  readonly p50Us: number;
  readonly p99Us: number;
  readonly p999Us: number;
  /** Null where it was not asked for. */
  readonly half: HalfLoad | null;
  readonly cpuUsPerRequest: number;
  /** CPU time of the target by wall time; its number of workers means: saturated. */
  readonly cpuBusy: number;
  readonly rssBytes: number;
  readonly pssBytes: number;
  /** Why the run does not count; empty when it does. */
  readonly faults: readonly string[];
}

/** Middle and ends of the runs that count. */
export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** All that is known of one target under one workload. */
export interface Cell {
  readonly workload: string;
  readonly target: string;
  readonly runs: number;
  readonly requestsPerSecond: Spread;
  readonly p50Us: Spread;
  readonly p99Us: Spread;
  readonly p999Us: Spread;
  /** At half of saturation; null where no such run counts. */
  readonly half: { readonly share: Spread; readonly p50Us: Spread; readonly p999Us: Spread } | null;
  readonly cpuUsPerRequest: Spread;
  readonly cpuBusy: Spread;
  readonly rssBytes: Spread;
  /** CPU of the baseline by CPU of this target in the same round: how many times cheaper it is. */
  readonly timesCheaper: Spread | null;
  /** Why runs did not count; a cell with `runs` 0 has no figures. */
  readonly faults: readonly string[];
}

/** Figures of every pair of workload and target that was run, in the order of the targets. */
export function summarize(
  runs: readonly RunRecord[],
  workloads: readonly string[],
  targets: readonly TargetFacts[],
): Cell[] {
  return workloads.flatMap((workload) =>
    targets.flatMap((target) => {
      const of = (name: string): RunRecord[] =>
        runs.filter((run) => run.workload === workload && run.target === name);
      const own = of(target.name);
      if (own.length === 0) return [];
      return [toCell(own, target.baseline === null ? [] : of(target.baseline))];
    }),
  );
}

function toCell(all: readonly RunRecord[], baseline: readonly RunRecord[]): Cell {
  const good = all.filter((run) => run.faults.length === 0);
  const of = (figure: (run: RunRecord) => number): Spread => spread(good.map(figure));
  const ratios = good.flatMap((run) => {
    const base = baseline.find((one) => one.round === run.round && one.faults.length === 0);
    return base && run.cpuUsPerRequest > 0 ? [base.cpuUsPerRequest / run.cpuUsPerRequest] : [];
  });
  return {
    workload: all[0]!.workload,
    target: all[0]!.target,
    runs: good.length,
    requestsPerSecond: of((run) => run.requestsPerSecond),
    p50Us: of((run) => run.p50Us),
    p99Us: of((run) => run.p99Us),
    p999Us: of((run) => run.p999Us),
    half: halfOf(good),
    cpuUsPerRequest: of((run) => run.cpuUsPerRequest),
    cpuBusy: of((run) => run.cpuBusy),
    rssBytes: of((run) => run.rssBytes),
    timesCheaper: ratios.length === 0 ? null : spread(ratios),
    faults: [...new Set(all.flatMap((run) => run.faults))],
  };
}

function halfOf(runs: readonly RunRecord[]): Cell['half'] {
  const good = runs.flatMap(({ half }) => (half?.faults.length === 0 ? [half] : []));
  if (good.length === 0) return null;
  return {
    share: spread(good.map(({ share }) => share)),
    p50Us: spread(good.map(({ p50Us }) => p50Us)),
    p999Us: spread(good.map(({ p999Us }) => p999Us)),
  };
}

/** Median, least and greatest; all NaN for no values. */
export function spread(values: readonly number[]): Spread {
  if (values.length === 0) return { median: NaN, min: NaN, max: NaN };
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const median =
    sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
  return { median, min: sorted[0]!, max: sorted.at(-1)! };
}
