/** How a run is reported: JSON with everything, a Markdown page, a chart. Writes no figures. */

import { matchLimits, ruleRunLimits } from '../../base/rule-limits.ts';
import type { BarGroup } from '../report/bar-chart.ts';
import { barChart } from '../report/bar-chart.ts';
import { describeMachine, type MachineFacts } from '../report/machine-facts.ts';
import { formatNumber, markdownTable } from '../report/table.ts';
import { turnWarmupSeconds } from './options.ts';
import type { Cell, RunRecord, Spread } from './summary.ts';
import type { TargetFacts } from './target.ts';

/** How a run was set up, for its readers. */
export interface RunSettings {
  readonly rounds: number;
  readonly seconds: number;
  readonly warmupSeconds: number;
  readonly connections: number;
  readonly workers: number;
  readonly pinned: boolean;
  readonly command: string;
}

/** What a report says of one load. */
export interface WorkloadFacts {
  readonly name: string;
  readonly title: string;
  /** Requests that are sent over and over. */
  readonly variants: number;
  /** True when values do not come again before all variants were sent. */
  readonly fresh: boolean;
}

/** Everything that a report shows. */
export interface Report {
  readonly settings: RunSettings;
  readonly machine: MachineFacts;
  readonly targets: readonly TargetFacts[];
  readonly workloads: readonly WorkloadFacts[];
  readonly cells: readonly Cell[];
  readonly runs: readonly RunRecord[];
}

/** The whole page. */
export function markdownPage(report: Report, chart: string): string {
  return [
    '# Whole-proxy benchmark',
    overviewTable(report),
    ...tailTable(report),
    conditions(report),
    `![CPU time per request](${chart})`,
    workloadSections(report),
    '',
  ].join('\n\n');
}

/** A table for every load: rate, latency, CPU time and memory of every target. */
export function workloadSections(report: Report): string {
  const sections = report.workloads.flatMap(({ name, title }) => {
    const cells = report.cells.filter((cell) => cell.workload === name);
    return cells.length === 0 ? [] : [`## ${title}\n\n${workloadTable(report, cells)}`];
  });
  return sections.join('\n\n');
}

/** Targets by workloads: CPU microseconds per request and how many times cheaper than the peer. */
export function overviewTable({ targets, workloads, cells }: Report): string {
  const rows = targets.map((target) => {
    const own = workloads.map(({ name }) =>
      cells.find((cell) => cell.workload === name && cell.target === target.name),
    );
    const rss = Math.max(...own.map((cell) => cell?.rssBytes.max ?? NaN).filter(Number.isFinite));
    return [target.title, ...own.map(overviewCell), formatNumber(rss / 2 ** 20)];
  });
  const columns = ['CPU µs per request', ...workloads.map(({ title }) => title), 'RSS MB'];
  return markdownTable(columns, rows);
}

/** p99.9 at half of saturation, targets by loads; nothing where no load was sent so. */
export function tailTable({ targets, workloads, cells }: Report): string[] {
  const sent = workloads.filter(({ name }) =>
    cells.some((cell) => cell.workload === name && cell.half !== null),
  );
  if (sent.length === 0) return [];
  const rows = targets.flatMap((target) => {
    const own = sent.map(({ name }) =>
      cells.find((cell) => cell.workload === name && cell.target === target.name),
    );
    if (own.every((cell) => !cell?.half)) return [];
    return [[target.title, ...own.map((cell) => tailCell(cell?.half ?? null))]];
  });
  const columns = ['p99.9 ms (p50) at half of saturation', ...sent.map(({ title }) => title)];
  return [markdownTable(columns, rows)];
}

function tailCell(half: Cell['half']): string {
  return half === null ? '–' : `${milliseconds(half.p999Us)} (${milliseconds(half.p50Us)})`;
}

function overviewCell(cell: Cell | undefined): string {
  if (cell === undefined) return '–';
  if (cell.runs === 0) return 'failed';
  const { timesCheaper, cpuUsPerRequest } = cell;
  const figure = formatNumber(cpuUsPerRequest.median);
  return timesCheaper === null ? figure : `${figure} (${factor(timesCheaper.median)})`;
}

/** "1/47" when cheaper than the baseline, "x1.3" when dearer. */
function factor(timesCheaper: number): string {
  if (timesCheaper >= 1) return `1/${formatNumber(timesCheaper)}`;
  return `x${formatNumber(1 / timesCheaper)}`;
}

/** What a reader must know to judge the figures. */
export function conditions(report: Report): string {
  const { settings, machine, workloads } = report;
  const { rounds, seconds, warmupSeconds, connections, workers, pinned } = settings;
  const turn = warmupSeconds > 0 ? turnWarmupSeconds : 0;
  return [
    `Medians of ${rounds} interleaved rounds of ${seconds} s (longer for targets too slow for 40 answers) after ` +
      `${warmupSeconds} s of warm-up and ${turn} s at the start of each turn, ` +
      `${connections} connections, ${workers} worker(s) per proxy` +
      `${pinned ? ', proxies on CPUs of their own, load generator and origin on the others' : ''}.`,
    'CPU is user and system time of all processes and threads of the proxy by answers; in brackets the',
    'share of nginx + ModSecurity 3 with the same rules in the same round (for the proxy without',
    'inspection: of nginx). All WAFs block, read request bodies, do not read response bodies, write no',
    'audit and no access log, and read the same rule text, but those named after a built-in',
    'template: they run its policy as it is published. Light decides by the score of detection;',
    'Standard also inspects answers. Keep-alive on both sides. Latency is that',
    'of a closed loop at full load; at half of saturation connections rest for random times between',
    'requests, so that they send half as many a second. The peers write blocked requests to their error log; this proxy',
    'runs without control and keeps no events. A run with a wrong answer does not count.',
    '',
    ...whatRepeats(workloads),
    '',
    ...howBusy(report),
    '',
    `${describeMachine(machine)}.`,
  ].join('\n');
}

/** How much of the time the proxies worked: where they waited, the load generator was the limit. */
function howBusy({ cells, workloads, targets }: Report): string[] {
  const counted = cells.filter(({ cpuBusy }) => Number.isFinite(cpuBusy.median));
  const sorted = counted.toSorted((a, b) => a.cpuBusy.median - b.cpuBusy.median);
  const [least, most] = [sorted[0], sorted.at(-1)];
  if (least === undefined || most === undefined) return [];
  const percent = (cell: Cell): string => formatNumber(cell.cpuBusy.median * 100);
  const target = targets.find(({ name }) => name === least.target)?.title ?? least.target;
  const load = workloads.find(({ name }) => name === least.workload)?.title ?? least.workload;
  return [
    `CPU busy, CPU time by wall time, was ${percent(least)} to ${percent(most)} %, least for ` +
      `${target} under "${load}"; 100 % is one worker that never waits.`,
    'Where it is less, the proxy waited: for the load generator or the origin, whose CPUs may sleep',
    'between requests, or for other work on this machine. It could have answered more a second, and',
    'waking up is part of its CPU time.',
  ];
}

/** One sentence on what a proxy may remember of values met before, and which loads repeat them. */
function whatRepeats(workloads: readonly WorkloadFacts[]): string[] {
  const named = (fresh: boolean): string =>
    workloads
      .filter((one) => one.fresh === fresh)
      .map(({ title, variants }) => `"${title}" (${formatNumber(variants)})`)
      .join(', ');
  const [again, anew] = [named(false), named(true)];
  const parts = [
    ...(again === '' ? [] : [`values repeat in ${again}`]),
    ...(anew === '' ? [] : [`in ${anew} only what browsers send every time does`]),
  ];
  if (parts.length === 0) return [];
  return [
    'Repetition: each thread of this proxy remembers what its rules found in the last ' +
      `${formatNumber(matchLimits.memoEntries)} short values, and of fewer long ones of up to ` +
      `${formatNumber(matchLimits.memoValueBytesMax)} bytes, and each @rx its answers to ` +
      `${ruleRunLimits.rememberedValuesMax} values; ${parts.join('; ')} ` +
      '(different requests in brackets).',
  ];
}

function workloadTable({ targets }: Report, cells: readonly Cell[]): string {
  const columns = [
    'target',
    'requests/s',
    'p50 ms',
    'p99 ms',
    'p99.9 ms',
    'CPU µs/request',
    'min–max',
    'CPU busy',
    'RSS MB',
    'runs',
  ];
  const rows = cells.map((cell) => {
    const title = targets.find(({ name }) => name === cell.target)?.title ?? cell.target;
    if (cell.runs === 0)
      return [`${title}: ${cell.faults.join('; ')}`, ...columns.slice(1).fill('–')];
    const { cpuUsPerRequest: cpu } = cell;
    return [
      title,
      formatNumber(cell.requestsPerSecond.median),
      milliseconds(cell.p50Us),
      milliseconds(cell.p99Us),
      milliseconds(cell.p999Us),
      overviewCell(cell),
      `${formatNumber(cpu.min)}–${formatNumber(cpu.max)}`,
      `${formatNumber(cell.cpuBusy.median * 100)} %`,
      formatNumber(cell.rssBytes.median / 2 ** 20),
      String(cell.runs),
    ];
  });
  return markdownTable(columns, rows);
}

function milliseconds(us: Spread): string {
  return formatNumber(us.median / 1000);
}

const colors = [
  { prefix: 'waf', color: '#2a7de1' },
  { prefix: 'nginx-modsec3', color: '#d9822b' },
  { prefix: 'apache', color: '#b54848' },
  { prefix: '', color: '#8a9199' },
] as const;

/** CPU per request of every target, one group of bars a workload. */
export function cpuChart({ targets, workloads, cells }: Report): string {
  const groups = workloads.map(({ name, title }): BarGroup => {
    const own = cells.filter((cell) => cell.workload === name);
    const bars = own.map((cell) => ({
      label: targets.find((target) => target.name === cell.target)?.title ?? cell.target,
      value: cell.cpuUsPerRequest.median,
      note: cell.runs === 0 ? 'failed' : `${formatNumber(cell.cpuUsPerRequest.median)} µs`,
      color: colors.find(({ prefix }) => cell.target.startsWith(prefix))!.color,
    }));
    return { title, bars };
  });
  return barChart('CPU time per request, microseconds, logarithmic scale', groups);
}
