/**
 * The comparison of two builds: ratios within rounds in which all processes had their load at once,
 * their noise, and which ratios are losses. Pure.
 */

import { formatNumber, markdownTable } from '../report/table.ts';
import { spread, type RunRecord, type Spread } from './summary.ts';

/** Names of the targets that are compared. */
export interface Sides {
  readonly now: string;
  /** A second process of the same build: what differs between the two is noise. */
  readonly nowAgain: string;
  readonly before: string;
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
  /** Of the rounds in which all sides count, and its least and greatest under other draws. */
  readonly ratio: Spread;
  /** As a share: what a loss must exceed. */
  readonly noise: number;
  readonly lost: boolean;
}

/** A loss is at least this share beyond the noise. */
export const lossShareMin = 0.03;

/** Draws of rounds that the standard error of a ratio is estimated from. */
const resamples = 200;

/** Logarithms of one figure of one round. */
interface RoundFigures {
  /** This tree by the older commit, each the mean of its two processes. */
  readonly change: number;
  /** The second process of a build by its first. */
  readonly nowApart: number;
  readonly beforeApart: number;
}

/**
 * Compares every figure of every load by the median of its rounds' ratios. The noise is twice the
 * standard error of that ratio: of its rounds, estimated by drawing them anew, and of its
 * processes, estimated by how far apart those of one build are.
 * Source: B. Efron, "Bootstrap methods", 1979.
 */
export function compareBuilds(
  runs: readonly RunRecord[],
  workloads: readonly string[],
  sides: Sides,
): Comparison[] {
  return figures.flatMap(({ name: figure }) =>
    workloads.flatMap((workload) => {
      const rounds = roundsOf(runs, workload, sides, figure);
      if (rounds.length === 0) return [];
      const drawn = draws(rounds).map((some) => middle(some, 'change'));
      const apart = Math.hypot(middle(rounds, 'nowApart'), middle(rounds, 'beforeApart'));
      const noise = Math.expm1(2 * Math.hypot(deviation(drawn), apart / 2));
      const { min, max } = spread(drawn);
      const ratio = {
        median: Math.exp(middle(rounds, 'change')),
        min: Math.exp(min),
        max: Math.exp(max),
      };
      return [{ workload, figure, ratio, noise, lost: ratio.median > 1 + lossShareMin + noise }];
    }),
  );
}

function middle(rounds: readonly RoundFigures[], figure: keyof RoundFigures): number {
  return spread(rounds.map((round) => round[figure])).median;
}

/** The same rounds drawn anew, each as often as it comes; the same draws in every run. */
function draws(rounds: readonly RoundFigures[]): RoundFigures[][] {
  let state = 1;
  const next = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * rounds.length);
  };
  return Array.from({ length: resamples }, () => rounds.map(() => rounds[next()]!));
}

function deviation(values: readonly number[]): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return Math.sqrt(squares / values.length);
}

/** The rounds in which all four processes gave a figure. */
function roundsOf(
  runs: readonly RunRecord[],
  workload: string,
  sides: Sides,
  figure: FigureName,
): RoundFigures[] {
  const counted = runs.filter((run) => run.workload === workload && run.faults.length === 0);
  const rounds = new Set(counted.map(({ round }) => round));
  return [...rounds].flatMap((round) => {
    const value = (target: string): number =>
      Math.log(counted.find((run) => run.round === round && run.target === target)?.[figure] ?? 0);
    const [now, nowAgain] = [value(sides.now), value(sides.nowAgain)];
    const [before, beforeAgain] = [value(sides.before), value(sides.beforeAgain)];
    const change = (now + nowAgain - before - beforeAgain) / 2;
    if (!Number.isFinite(change)) return [];
    return [{ change, nowApart: nowAgain - now, beforeApart: beforeAgain - before }];
  });
}

/** A Markdown table: a row a load, a column a figure; losses are bold. */
export function comparisonTable(
  comparisons: readonly Comparison[],
  runs: readonly RunRecord[],
  sides: Sides,
): string {
  const workloads = [...new Set(comparisons.map(({ workload }) => workload))];
  const cpu = (workload: string, ...targets: string[]): number =>
    spread(
      runs
        .filter((run) => run.workload === workload && targets.includes(run.target))
        .filter((run) => run.faults.length === 0)
        .map((run) => run.cpuUsPerRequest),
    ).median;
  const rows = workloads.map((workload) => {
    const before = cpu(workload, sides.before, sides.beforeAgain);
    const now = cpu(workload, sides.now, sides.nowAgain);
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
