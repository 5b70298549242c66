/**
 * The files for Grafana and Prometheus name only metrics and labels that `/metrics` has: every
 * expression is taken apart and compared with a real answer.
 */

import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { metricsText, trafficMetrics } from '../../control/api/metrics/metrics-text.ts';
import type { SiteCounts } from '../../control/observe/counter-store.ts';
import { startTestControl, type TestControl } from '../support/test-control.ts';

const deploy = join(import.meta.dirname, '..', '..', 'deploy');
const rulesFile = join(deploy, 'prometheus', 'rules.yml');
const hasPromtool = spawnSync('promtool', ['--version']).status === 0;
if (!hasPromtool) console.log('skipped: promtool is not installed');

let waf: TestControl;
let known: Known;

beforeAll(async () => {
  waf = await startTestControl();
  const channel = {
    ...{ name: 'hook', kind: 'ALERT_CHANNEL_KIND_WEBHOOK' },
    config: { url: 'https://hooks.example/' },
  };
  await waf.call('AlertService/UpsertAlertChannel', { channel });
  const { text } = await waf.get('/metrics', false);
  known = readMetrics(`${metricsText(trafficMetrics([traffic()], () => 'shop'))}\n${text}`);
});
afterAll(() => waf.control.close());

/** Counts of a site that has seen everything, so that every family of traffic has samples. */
function traffic(): SiteCounts {
  const families = ['outcome', 'status', 'verdict', 'refusal', 'origin_error', 'failure', 'limit'];
  const entries = [...families, 'guard', 'rule', 'event'].map((name) => [name, { one: 1 }]);
  const ids = { tenantId: 'default', siteId: 's', policyId: 'p' };
  const sums = { requests: 1, bytesIn: 1, bytesOut: 1, inspected: 1, inspectionUs: 1 };
  const counts = { ...ids, ...sums, durationUs: 1, durations: [1], inspections: [1] };
  return { ...counts, entries: Object.fromEntries(entries) } as unknown as SiteCounts;
}

interface Known {
  /** Names as PromQL has them, with the suffixes of their types. */
  readonly names: ReadonlySet<string>;
  readonly labels: ReadonlyMap<string, ReadonlySet<string>>;
}

/** Names and labels of an answer; a family without samples has its names only. */
function readMetrics(text: string): Known {
  const names = new Set(['up']);
  const suffixes: Readonly<Record<string, readonly string[]>> = {
    counter: ['_total'],
    gauge: [''],
    histogram: ['_bucket', '_count', '_sum'],
  };
  // Scraping adds these.
  const labels = new Map<string, Set<string>>([['up', new Set(['job', 'instance'])]]);
  for (const line of text.split('\n')) {
    const [, family = '', type = ''] = /^# TYPE (\S+) (\S+)$/.exec(line) ?? [];
    for (const suffix of suffixes[type] ?? []) names.add(family + suffix);
    const [, name = '', pairs = ''] = /^([a-z_]+)(?:\{(.*)\})? \S+$/.exec(line) ?? [];
    if (name === '') continue;
    const found = labels.get(name) ?? new Set(['job', 'instance']);
    for (const [, label = ''] of pairs.matchAll(/([a-z_]+)="/g)) found.add(label);
    labels.set(name, found);
  }
  return { names, labels };
}

const words = new Set(
  'by without on ignoring group_left group_right and or unless bool offset'.split(' '),
);

/** Metrics and labels that an expression names; functions, words and numbers are neither. */
function readExpression(expression: string): { names: string[]; labels: string[] } {
  const labels: string[] = [];
  const take = (list: string): string => {
    for (const [label] of list.matchAll(/[a-z_]+/g)) labels.push(label);
    return ' ';
  };
  const bare = expression
    .replace(/"(?:[^"\\]|\\.)*"/g, '')
    .replace(/\{([^}]*)\}/g, (_all, list: string) => take(list))
    .replace(/\[[^\]]*\]/g, ' ')
    .replace(/\b(?:by|without|on|ignoring)\s*\(([^)]*)\)/g, (_all, list: string) => take(list));
  const names = [...bare.matchAll(/[a-z_:][a-z0-9_:]*(?!\s*\(|[a-z0-9_:])/gi)]
    .filter(({ index }) => !/[0-9.$]/.test(bare[index - 1] ?? ''))
    .map(([name]) => name)
    .filter((name) => !words.has(name));
  return { names, labels };
}

/** What an expression names and `/metrics` does not have. */
function unknownIn(expression: string, shown: readonly string[] = []): string[] {
  const { names, labels } = readExpression(expression);
  const gone = names.filter((name) => !known.names.has(name));
  const sampled = names.filter((name) => known.labels.has(name));
  const has = (label: string): boolean =>
    sampled.some((name) => known.labels.get(name)?.has(label) === true);
  // A family that has no samples here shows no labels.
  const judged = sampled.length < names.length ? [] : [...labels, ...shown];
  return [...gone, ...judged.filter((label) => !has(label))];
}

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: Readonly<Record<string, string>>;
}
interface Panel {
  readonly id: number;
  readonly title: string;
  readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[];
}
interface Dashboard {
  readonly uid: string;
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly query: string }[] };
}

const { groups } = parse(readFileSync(rulesFile, 'utf8')) as {
  readonly groups: readonly { readonly rules: readonly Rule[] }[];
};
const rules = groups.flatMap((group) => group.rules);
const dashboards = readdirSync(join(deploy, 'grafana')).map(
  (name) => JSON.parse(readFileSync(join(deploy, 'grafana', name), 'utf8')) as Dashboard,
);
const panels = dashboards.flatMap(({ uid, panels: all }) =>
  all.map((panel) => [uid, panel.title, panel] as const),
);

test('the reader finds metrics and labels, and nothing else', () => {
  const expression =
    'histogram_quantile(0.9, sum by (le, site) (rate(a_bucket{site=~"$x", b!="c d"}[5m]))) > 1e3' +
    ' or e';
  const { names, labels } = readExpression(expression);
  expect(names).toEqual(['a_bucket', 'e']);
  expect(labels.sort()).toEqual(['b', 'le', 'site', 'site']);
});

test('a metric, a suffix and a label that are not there are found', () => {
  expect(unknownIn('rate(waf_gone_total[5m])')).toEqual(['waf_gone_total']);
  expect(unknownIn('waf_requests')).toEqual(['waf_requests']);
  expect(unknownIn('sum by (host) (waf_requests_total)')).toEqual(['host']);
  expect(unknownIn('waf_requests_total{host="a"}')).toEqual(['host']);
  expect(unknownIn('waf_requests_total', ['host'])).toEqual(['host']);
});

test.each(rules.map((rule) => [rule.alert, rule] as const))('the rule %s', (_name, rule) => {
  const texts = Object.values(rule.annotations).join(' ');
  const shown = [...texts.matchAll(/\$labels\.([a-z_]+)/g)].map(([, label = '']) => label);
  expect(unknownIn(rule.expr, shown)).toEqual([]);
  expect(readExpression(rule.expr).names.length).toBeGreaterThan(0);
});

test.each(panels)('the panel %s: %s', (_uid, _title, { targets }) => {
  expect(targets.length).toBeGreaterThan(0);
  for (const { expr, legendFormat } of targets) {
    const shown = [...legendFormat.matchAll(/\{\{([a-z_]+)\}\}/g)].map(([, label = '']) => label);
    expect(unknownIn(expr, shown)).toEqual([]);
    expect(readExpression(expr).names.length).toBeGreaterThan(0);
  }
});

test('variables of dashboards name what is there; ids are their own', () => {
  for (const { templating, panels: all } of dashboards) {
    for (const { query } of templating.list) {
      const [, name = '', label = ''] = /^label_values\((\w+), (\w+)\)$/.exec(query) ?? [];
      if (name === '') expect(query).toBe('prometheus');
      else expect(unknownIn(name, [label])).toEqual([]);
    }
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
  }
  expect(new Set(dashboards.map(({ uid }) => uid)).size).toBe(dashboards.length);
});

describe.skipIf(!hasPromtool)('promtool', () => {
  test.each([
    ['rules', rulesFile],
    ['config', join(deploy, 'prometheus', 'prometheus.yml')],
  ])('check %s', (what, file) => {
    const { status, stdout, stderr } = spawnSync('promtool', ['check', what, file]);
    expect([status, `${stdout.toString()}${stderr.toString()}`]).toEqual([0, expect.any(String)]);
  });
});
