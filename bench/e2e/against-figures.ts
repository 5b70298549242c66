/**
 * The comparison of two builds: ratios of what many short rounds tell, their noise, and which
 * ratios are losses. Pure.
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
  /** Of the rounds in which all sides count, and its least and greatest under other draws. */
  readonly ratio: Spread;
  /** As a share: what a loss must exceed. */
  readonly noise: number;
  readonly lost: boolean;
}

/** A loss is at least this share beyond the noise. */
export const lossShareMin = 0.03;

/** Other work on a machine only adds to a figure: of many rounds the lower ones tell most. */
const lowerShare = 0.25;
/** Draws of rounds that the standard error of a ratio is estimated from. */
const resamples = 200;

/** One figure of one round. */
interface RoundFigures {
  readonly now: number;
  readonly before: number;
  readonly again: number;
}

/**
 * Compares every figure of every load by the lower quartile of its rounds. The noise is the greater
 * one of twice the standard error of that ratio, estimated by drawing the rounds anew, and the
 * distance of the two processes of the older build.
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
      const drawn = draws(rounds).map(changeOf);
      const error = deviation(drawn);
      const noise = Math.expm1(Math.max(2 * error, Math.abs(apartOf(rounds))));
      const { min, max } = spread(drawn);
      const ratio = {
        median: Math.exp(changeOf(rounds)),
        min: Math.exp(min),
        max: Math.exp(max),
      };
      return [{ workload, figure, ratio, noise, lost: ratio.median > 1 + lossShareMin + noise }];
    }),
  );
}

/** Logarithm of this tree's figure by the middle of both processes of the older build. */
function changeOf(rounds: readonly RoundFigures[]): number {
  const before = lower(rounds, 'before') + lower(rounds, 'again');
  return lower(rounds, 'now') - before / 2;
}

/** Logarithm of the second process of the older build by the first. */
function apartOf(rounds: readonly RoundFigures[]): number {
  return lower(rounds, 'again') - lower(rounds, 'before');
}

function lower(rounds: readonly RoundFigures[], side: keyof RoundFigures): number {
  return Math.log(quartile(rounds.map((round) => round[side])));
}

function quartile(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.floor((sorted.length - 1) * lowerShare)] ?? NaN;
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

/** The rounds in which all three sides gave a figure. */
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
      counted.find((run) => run.round === round && run.target === target)?.[figure] ?? NaN;
    const figuresOfRound = {
      now: value(sides.now),
      before: value(sides.before),
      again: value(sides.beforeAgain),
    };
    return Object.values(figuresOfRound).every((one) => one > 0) ? [figuresOfRound] : [];
  });
}

/** A Markdown table: a row a load, a column a figure; losses are bold. */
export function comparisonTable(
  comparisons: readonly Comparison[],
  runs: readonly RunRecord[],
  sides: Sides,
): string {
  const workloads = [...new Set(comparisons.map(({ workload }) => workload))];
  const cpu = (workload: string, target: string): number =>
    quartile(
      runs
        .filter((run) => run.workload === workload && run.target === target)
        .filter((run) => run.faults.length === 0)
        .map((run) => run.cpuUsPerRequest),
    );
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
