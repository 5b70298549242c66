/** Tests that reports show every target, failures included, and fit into the README. */

import { expect, test } from 'vitest';
import { barChart } from '../report/bar-chart.ts';
import { formatNumber } from '../report/table.ts';
import {
  conditions,
  cpuChart,
  markdownPage,
  overviewTable,
  tailTable,
  workloadSections,
  type Report,
} from './report.ts';
import { replaceSection } from './results.ts';
import { spread, type Cell } from './summary.ts';

const cell = (target: string, cpu: number[], times: number[], busy = 0.99): Cell => ({
  workload: 'w',
  target,
  runs: cpu.length,
  requestsPerSecond: spread([1234]),
  p50Us: spread([500]),
  p99Us: spread([900]),
  p999Us: spread([1900]),
  half: null,
  cpuUsPerRequest: spread(cpu),
  cpuBusy: spread(cpu.map(() => busy)),
  rssBytes: spread([2 ** 26]),
  timesCheaper: times.length === 0 ? null : spread(times),
  faults: cpu.length === 0 ? ['request 0: 500 instead of 200'] : [],
});

const facts = (name: string): Report['targets'][number] => ({
  name,
  title: `the ${name}`,
  expectation: 'waf',
  baseline: null,
});

const report: Report = {
  settings: {
    rounds: 1,
    seconds: 1,
    warmupSeconds: 0,
    connections: 16,
    workers: 1,
    pinned: true,
    command: 'npm run bench:e2e',
  },
  machine: {
    cpu: 'c',
    cpus: 2,
    memoryGb: 1,
    system: 's',
    node: 'v20',
    versions: {},
    loadBefore: 0,
    date: '2026-01-01',
    commit: '',
  },
  targets: [facts('waf'), facts('peer'), facts('broken')],
  workloads: [{ name: 'w', title: 'load <1>', variants: 64, fresh: false }],
  cells: [cell('waf', [50], [47]), cell('peer', [2350], [], 0.98), cell('broken', [], [])],
  runs: [],
};

test('the overview names the factor, and failures as such', () => {
  const lines = overviewTable(report).split('\n');
  expect(lines[2]).toBe('| the waf | 50 (1/47) | 64 |');
  expect(lines[3]).toBe('| the peer | 2 350 | 64 |');
  expect(lines[4]).toContain('failed');
});

test('tails at half of saturation have a table of those targets that were sent so', () => {
  expect(tailTable(report)).toEqual([]);
  const half = { share: spread([0.5]), p50Us: spread([250]), p999Us: spread([4500]) };
  const [first, ...rest] = report.cells;
  const [table] = tailTable({ ...report, cells: [{ ...first!, half }, ...rest] });
  const lines = table!.split('\n');
  expect(lines[0]).toBe('| p99.9 ms (p50) at half of saturation | load <1> |');
  expect(lines.slice(2)).toEqual(['| the waf | 4.5 (0.25) |']);
});

test('the page says why a target has no figures', () => {
  const page = markdownPage(report, 'e2e.svg');
  expect(page).toContain('the broken: request 0: 500 instead of 200');
  expect(page).toContain('(e2e.svg)');
});

test('the page says what repeats, and what a CPU that was not busy means', () => {
  const said = (workloads: Report['workloads']): string => conditions({ ...report, workloads });
  const fresh = { name: 'v', title: 'load 2', variants: 4096, fresh: true };
  const both = said([...report.workloads, fresh]);
  expect(both).toContain('fewer long ones of up to 2 048 bytes, and each @rx its answers to ');
  expect(both).toContain('; values repeat in "load <1>" (64);');
  expect(both).toContain('in "load 2" (4 096) only what browsers send');
  expect(said([fresh])).not.toContain('values repeat');
  expect(said(report.workloads)).not.toContain('browsers');
  expect(said([])).not.toContain('Repetition');
  expect(both).toContain('was 98 to 99 %, least for the peer under "load <1>";');
  expect(conditions({ ...report, cells: [] })).not.toContain('CPU busy');
});

test('the tables of loads hold rate, latency, CPU time and memory', () => {
  const lines = workloadSections(report).split('\n');
  expect(lines[0]).toBe('## load <1>');
  expect(lines[2]).toContain('| p50 ms | p99 ms | p99.9 ms |');
  expect(lines[4]).toBe(
    '| the waf | 1 234 | 0.5 | 0.9 | 1.9 | 50 (1/47) | 50–50 | 99 % | 64 | 1 |',
  );
});

test('the chart escapes titles and draws one bar a target', () => {
  const svg = cpuChart(report);
  expect(svg).toContain('load &lt;1&gt;');
  expect(svg.match(/height="18"/g)).toHaveLength(3);
  expect(barChart('empty', [])).toContain('</svg>');
});

test('the README keeps what stands outside the marks', () => {
  const text = 'a\n<!-- benchmark:begin -->\nold\n<!-- benchmark:end -->\nb\n';
  const once = replaceSection(text, 'new');
  expect(once).toContain('begin -->\n\nnew\n\n<!--');
  expect(once.startsWith('a\n')).toBe(true);
  expect(replaceSection(once, 'new')).toBe(once);
  expect(() => replaceSection('nothing', 'x')).toThrow(/no place/);
});

test.each([
  [12345.6, '12 346'],
  [99.96, '100'],
  [0.01234, '0.0123'],
  [NaN, '–'],
])('writes %s as %s', (value, text) => {
  expect(formatNumber(value)).toBe(text);
});
