/**
 * The comparison of two builds: ratios within rounds, the noise between two processes of the same
 * build, and which ratios are losses. Pure.
 */

import { formatNumber, markdownTable } from '../report/table.ts';
import { spread, type RunRecord, type Spread } from './summary.ts';

/** Names of the targets that are compared. */
export interface Sides {
  readonly now: string;
  readonly before: string;
  /** A second process of the older build: what differs between the two is noise. */
  readonly beforeAgain: string;
  readonly plain: string;
}

const figures = [
  { name: 'cpuUsPerRequest', title: 'CPU' },
  { name: 'p50Us', title: 'p50' },
  { name: 'p99Us', title: 'p99' },
  { name: 'p999Us', title: 'p99.9' },
  { name: 'rssBytes', title: 'memory' },
] as const;

type FigureName = (typeof figures)[number]['name'];

/** One figure of one load: this tree by the older commit. */
export interface Comparison {
  readonly workload: string;
  readonly figure: FigureName;
  /** Of the rounds in which all sides count. */
  readonly ratio: Spread;
  /** How far two processes of one build are apart, as a share: what a loss must exceed. */
  readonly noise: number;
  readonly lost: boolean;
}

/** A loss is at least this share beyond the noise. */
export const lossShareMin = 0.03;

/** One round of one load: logarithms of ratios. */
interface Pair {
  readonly workload: string;
  /** This tree by the middle of both processes of the older build. */
  readonly change: number;
  /** The second process of the older build by the first. */
  readonly same: number;
}

/**
 * Compares every figure of every load. The noise of a figure is the greater one of twice the
 * standard error of the median, estimated over all loads from both processes of the older build,
 * and the distance of the medians of those two under this load.
 */
export function compareBuilds(
  runs: readonly RunRecord[],
  workloads: readonly string[],
  sides: Sides,
): Comparison[] {
  return figures.flatMap(({ name: figure }) => {
    const pairs = workloads.flatMap((workload) => pairsOf(runs, workload, sides, figure));
    const single = deviation(pairs.map(({ same }) => same)) / Math.SQRT2;
    return workloads.flatMap((workload) => {
      const own = pairs.filter((pair) => pair.workload === workload);
      if (own.length === 0) return [];
      // Of a median over n rounds; the older build's middle adds half of a single run's variance.
      const error = (1.2533 * single * Math.sqrt(1.5)) / Math.sqrt(own.length);
      const apart = Math.abs(spread(own.map(({ same }) => same)).median);
      const noise = Math.expm1(Math.max(2 * error, apart));
      const changes = spread(own.map(({ change }) => change));
      const ratio = {
        median: Math.exp(changes.median),
        min: Math.exp(changes.min),
        max: Math.exp(changes.max),
      };
      return [{ workload, figure, ratio, noise, lost: ratio.median > 1 + lossShareMin + noise }];
    });
  });
}

function pairsOf(
  runs: readonly RunRecord[],
  workload: string,
  sides: Sides,
  figure: FigureName,
): Pair[] {
  const counted = runs.filter((run) => run.workload === workload && run.faults.length === 0);
  const rounds = new Set(counted.map(({ round }) => round));
  return [...rounds].flatMap((round) => {
    const value = (target: string): number =>
      counted.find((run) => run.round === round && run.target === target)?.[figure] ?? NaN;
    const first = Math.log(value(sides.before));
    const second = Math.log(value(sides.beforeAgain));
    const now = Math.log(value(sides.now));
    const pair = { workload, change: now - (first + second) / 2, same: second - first };
    return Number.isFinite(pair.change) && Number.isFinite(pair.same) ? [pair] : [];
  });
}

/** Standard deviation about zero, from the median of distances: single outliers weigh little. */
function deviation(values: readonly number[]): number {
  if (values.length === 0) return NaN;
  return 1.4826 * spread(values.map(Math.abs)).median;
}

/** A Markdown table: a row a load, a column a figure; losses are bold. */
export function comparisonTable(
  comparisons: readonly Comparison[],
  runs: readonly RunRecord[],
  sides: Sides,
): string {
  const workloads = [...new Set(comparisons.map(({ workload }) => workload))];
  const cpu = (workload: string, target: string): number =>
    spread(
      runs
        .filter((run) => run.workload === workload && run.target === target)
        .filter((run) => run.faults.length === 0)
        .map((run) => run.cpuUsPerRequest),
    ).median;
  const rows = workloads.map((workload) => {
    const before = (cpu(workload, sides.before) + cpu(workload, sides.beforeAgain)) / 2;
    const now = cpu(workload, sides.now);
    const cells = figures.map(({ name }) =>
      cellOf(comparisons.find((one) => one.workload === workload && one.figure === name)),
    );
    return [
      workload,
      `${formatNumber(before)} → ${formatNumber(now)}`,
      `x${formatNumber(now / cpu(workload, sides.plain))}`,
      ...cells,
    ];
  });
  const titles = figures.map(({ title }) => `${title} (spread; noise)`);
  return markdownTable(['load', 'CPU µs', 'of nginx', ...titles], rows);
}

function cellOf(comparison: Comparison | undefined): string {
  if (comparison === undefined) return '–';
  const { ratio, noise, lost } = comparison;
  const text = `${ratio.median.toFixed(3)} (${ratio.min.toFixed(2)}–${ratio.max.toFixed(2)}; ${(noise * 100).toFixed(1)} %)`;
  return lost ? `**${text}**` : text;
}
