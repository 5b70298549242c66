/** Metrics are OpenMetrics, hold every family that is promised, and are served where asked for. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestControl, type TestControl } from '../../../test/support/test-control.ts';

let waf: TestControl;

beforeAll(async () => {
  waf = await startTestControl({ metrics: { host: '127.0.0.1', port: 0 } });
});
afterAll(() => waf.control.close());

interface Family {
  type: string;
  readonly samples: { name: string; labels: Record<string, string>; value: number }[];
}

/** Reads the text format of OpenMetrics 1.0 as far as we write it; throws where it is not that. */
function parse(text: string): Map<string, Family> {
  const families = new Map<string, Family>();
  const lines = text.split('\n');
  if (lines.pop() !== '' || lines.pop() !== '# EOF') throw new Error('ends without # EOF');
  let current = '';
  for (const line of lines) {
    const [, kind, name = '', rest = ''] = /^# (TYPE|HELP) (\S+) (.+)$/.exec(line) ?? [];
    if (kind === 'TYPE') {
      if (families.has(name)) throw new Error(`${name} comes twice`);
      if (!/^(counter|gauge|histogram)$/.test(rest)) throw new Error(`type of ${line}`);
      current = name;
      families.set(name, { type: rest, samples: [] });
      continue;
    }
    if (kind === 'HELP') {
      if (name !== current) throw new Error(`help of another family: ${line}`);
      continue;
    }
    const sample = /^([a-z_:]+)(?:\{((?:[a-z_]+="(?:[^"\\\n]|\\[\\"n])*",?)*)\})? (\S+)$/.exec(
      line,
    );
    if (sample === null) throw new Error(`no sample: ${line}`);
    const [, full = '', labels = '', value = ''] = sample;
    const family = families.get(current)!;
    const suffix = full.slice(current.length);
    const suffixes = { counter: ['_total'], gauge: [''], histogram: ['_bucket', '_count', '_sum'] };
    const allowed = suffixes[family.type as keyof typeof suffixes];
    if (!full.startsWith(current) || !allowed.includes(suffix)) throw new Error(`name: ${line}`);
    if (!Number.isFinite(Number(value))) throw new Error(`value: ${line}`);
    const pairs = [...labels.matchAll(/([a-z_]+)="((?:[^"\\]|\\.)*)"/g)];
    const named = Object.fromEntries(pairs.map(([, key, text_]) => [key, text_]));
    family.samples.push({ name: full, labels: named, value: Number(value) });
  }
  return families;
}

test('the reader of this test refuses what is not OpenMetrics', () => {
  const good = '# TYPE a gauge\n# HELP a Text.\na{b="c"} 1\n# EOF\n';
  expect(parse(good).get('a')?.samples).toEqual([{ name: 'a', labels: { b: 'c' }, value: 1 }]);
  const bad = [
    good.replace('# EOF\n', ''),
    good.replace('"c"', 'c'),
    good.replace('a{', 'a_total{'),
    good.replace(' 1', ' one'),
    good.replace('# EOF', '# TYPE a gauge\n# EOF'),
  ];
  for (const text of bad) expect(() => parse(text), text).toThrow();
});

test('every promised family is there, with its samples', async () => {
  const families = parse((await waf.get('/metrics', false)).text);
  const sampled = [
    ...['process_resident_memory_bytes', 'process_cpu_seconds', 'process_start_time_seconds'],
    ...['waf_observation_lane_value', 'waf_observation_pipeline_value', 'waf_events_stored'],
    ...['waf_api_inventory_value', 'waf_evidence_stored_bytes', 'waf_evidence_rejected'],
    'waf_alerts_open',
  ];
  for (const name of sampled) expect(families.get(name)?.samples.length, name).toBeGreaterThan(0);
  const declared = [
    ...['waf_requests', 'waf_responses', 'waf_request_duration_seconds', 'waf_verdicts'],
    ...['waf_upstream_endpoint_healthy', 'waf_certificate_expiry_timestamp_seconds'],
    ...['waf_alert_deliveries', 'waf_alert_deliveries_waiting'],
  ];
  for (const name of declared) expect(families.has(name), name).toBe(true);
  const labels = new Set(
    [...families.values()].flatMap(({ samples }) =>
      samples.flatMap((one) => Object.keys(one.labels)),
    ),
  );
  for (const label of ['client', 'client_ip', 'ip', 'path']) expect(labels.has(label)).toBe(false);
});

test('scrapers get the same on their own address, and nothing else', async () => {
  const base = `http://127.0.0.1:${waf.control.metricsPort}`;
  const answer = await fetch(`${base}/metrics`);
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toContain('application/openmetrics-text');
  expect(parse(await answer.text()).has('waf_requests')).toBe(true);
  for (const path of ['/', '/readyz', '/waf.v1.SystemService/Health', '/metricsx']) {
    expect((await fetch(base + path)).status, path).toBe(404);
  }
  expect((await fetch(`${base}/metrics`, { method: 'POST' })).status).toBe(404);
});

test('without being asked for there is no such address', async () => {
  const plain = await startTestControl();
  expect(plain.control.metricsPort).toBe(0);
  await plain.control.close();
});
