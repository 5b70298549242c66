/** The step from runs to the table of the delivery benchmark. Pure. */

import { formatNumber, markdownTable } from '../report/table.ts';
import type { Load } from './h2load.ts';

/** One run of one target under one load. */
export interface DeliveryRun {
  readonly load: string;
  readonly target: string;
  readonly round: number;
  readonly cpuUs: number;
  readonly perSecond: number;
  readonly rssBytes: number;
  /** Why the run does not count; empty when it does. */
  readonly fault: string;
}

/** What a table calls a target. */
export interface DeliveryTarget {
  readonly name: string;
  readonly title: string;
}

/** The target that ratios are taken to. */
export const baseline = 'nginx';
/** The target that the goals are set for. */
export const judged = 'waf-off';

/** Loads by targets: CPU a request, its ratio to nginx in the same round, rate and memory. */
export function deliveryTable(
  runs: readonly DeliveryRun[],
  loads: readonly Load[],
  targets: readonly DeliveryTarget[],
): string {
  const columns = ['CPU µs (times nginx)', 'median', 'min', 'max', 'a second', 'RSS MB', 'goal'];
  const rows = loads.flatMap((load) =>
    targets.map(({ name, title }) => {
      const own = countedRuns(runs, load.name, name);
      const ratio = medianRatio(runs, load.name, name);
      const cpu = own.map(({ cpuUs }) => cpuUs);
      const times = name === baseline ? '' : ` (${formatNumber(ratio)})`;
      return [
        `${load.title}: ${title}`,
        `${formatNumber(median(cpu))}${times}`,
        ...[formatNumber(Math.min(...cpu)), formatNumber(Math.max(...cpu))],
        formatNumber(median(own.map(({ perSecond }) => perSecond))),
        formatNumber(Math.max(...own.map(({ rssBytes }) => rssBytes)) / 2 ** 20),
        name === judged ? verdict(ratio, load.goal) : '',
      ];
    }),
  );
  return markdownTable(columns, rows);
}

/** The middle of the ratios to nginx, each taken within a round; NaN when no round counts. */
export function medianRatio(runs: readonly DeliveryRun[], load: string, target: string): number {
  const base = new Map(countedRuns(runs, load, baseline).map((run) => [run.round, run.cpuUs]));
  const ratios = countedRuns(runs, load, target).flatMap(({ round, cpuUs }) => {
    const other = base.get(round);
    return other === undefined ? [] : [cpuUs / other];
  });
  return median(ratios);
}

function countedRuns(runs: readonly DeliveryRun[], load: string, target: string): DeliveryRun[] {
  return runs.filter((run) => run.load === load && run.target === target && run.fault === '');
}

function verdict(ratio: number, goal: number): string {
  if (!Number.isFinite(ratio)) return 'not measured';
  return `${ratio <= goal ? 'met' : 'missed'}: at most ${goal}`;
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  const middle = sorted.length >> 1;
  if (sorted.length === 0) return NaN;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
