/**
 * Metrics and events by OTLP to a collector on loopback: a real HTTP server that reads the requests
 * as the protocol defines them.
 */

import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import type { ControllerLink } from '../engine/link/controller-link.ts';
import { eventually } from '../test/support/eventually.ts';
import { sampleEvent, sampleMatch } from '../test/support/sample-event.ts';
import { startTestControl, type TestControl } from '../test/support/test-control.ts';
import { connectTestLink } from '../test/support/test-link.ts';
import { readOtlpSettings } from './export/otlp/otlp-settings.ts';

const cleanups: (() => Promise<unknown> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

interface Attribute {
  readonly key: string;
  readonly value: { readonly stringValue?: string };
}
interface Point {
  readonly attributes: readonly Attribute[];
  readonly asDouble?: number;
  readonly startTimeUnixNano?: string;
  readonly timeUnixNano?: string;
  readonly count?: string;
  readonly bucketCounts?: readonly string[];
  readonly explicitBounds?: readonly number[];
}
interface Metric {
  readonly name: string;
  readonly sum?: { isMonotonic: boolean; aggregationTemporality: number; dataPoints: Point[] };
  readonly gauge?: { dataPoints: Point[] };
  readonly histogram?: { dataPoints: Point[] };
}
interface LogRecord {
  readonly eventName: string;
  readonly severityText: string;
  readonly timeUnixNano: string;
  readonly attributes: readonly Attribute[];
}
interface Sent {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: {
    readonly resourceMetrics?: { scopeMetrics: { metrics: Metric[] }[] }[];
    readonly resourceLogs?: {
      resource: { attributes: Attribute[] };
      scopeLogs: { logRecords: LogRecord[] }[];
    }[];
  };
}

/** A collector; `answer` gives the status of a request, or null for none at all. */
async function startCollector(answer: () => number | null = () => 200) {
  const sent: Sent[] = [];
  const taken: Sent[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString()));
    request.on('end', () => {
      const body = JSON.parse(text) as Sent['body'];
      const one = { path: request.url ?? '', headers: request.headers, body };
      sent.push(one);
      const status = answer();
      if (status === null) return;
      if (status === 200) taken.push(one);
      response.writeHead(status, { 'content-type': 'application/json' }).end('{}');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanups.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const records = (): LogRecord[] =>
    taken.flatMap(({ body }) =>
      (body.resourceLogs ?? []).flatMap(({ scopeLogs }) =>
        scopeLogs.flatMap(({ logRecords }) => logRecords),
      ),
    );
  const metrics = (): Metric[] =>
    taken
      .findLast(({ path }) => path === '/v1/metrics')
      ?.body.resourceMetrics?.flatMap(({ scopeMetrics }) =>
        scopeMetrics.flatMap((scope) => scope.metrics),
      ) ?? [];
  return { sent, records, metrics, url: `http://127.0.0.1:${port}` };
}

async function start(env: Record<string, string>): Promise<{
  readonly waf: TestControl;
  readonly link: ControllerLink;
}> {
  const otlp = readOtlpSettings({ OTEL_BLRP_SCHEDULE_DELAY: '0', ...env });
  const waf = await startTestControl({ otlp });
  cleanups.push(() => waf.control.close());
  const applied: { sha256: string }[] = [];
  const link = connectTestLink(waf.socket, applied, async (obtain, keep) => {
    applied.push(await obtain());
    await keep();
  });
  cleanups.push(() => link.close());
  await eventually(async () => (await waf.get('/readyz', false)).status === 200);
  return { waf, link };
}

function attack(requestId: string) {
  return sampleEvent({
    ...{ requestId, siteId: 'site-demo', receivedAtMs: Date.now(), status: 403 },
    ...{ outcome: 'blocked', blocked: true },
    transaction: {
      verdict: { action: 'block', status: 403, ruleId: 942100, phase: 2 },
      matchedRules: [sampleMatch()],
      ...{ inboundScore: 5, outboundScore: 0, detectionOnly: false, inspectionUs: 10 },
    },
  });
}

const valueOf = (attributes: readonly Attribute[], key: string): string | undefined =>
  attributes.find((one) => one.key === key)?.value.stringValue;
const idsOf = (records: readonly LogRecord[]): (string | undefined)[] =>
  records.map(({ attributes }) => valueOf(attributes, 'waf.request.id'));

/** A field of the log queue, as `/metrics` shows it. */
async function lane(waf: TestControl, field: string): Promise<number> {
  const { text } = await waf.get('/metrics', false);
  const found = new RegExp(`\\{lane="otlp:logs",field="${field}"\\} (\\d+)`).exec(text);
  return Number(found?.[1] ?? -1);
}

test('events arrive as log records with the resource, each once', async () => {
  const collector = await startCollector();
  const { waf, link } = await start({
    OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: `${collector.url}/v1/logs`,
    OTEL_EXPORTER_OTLP_HEADERS: 'x-key=abc',
    OTEL_SERVICE_NAME: 'edge',
  });
  for (let at = 0; at < 20; at++) link.observe(attack(`request-${at}`));
  await eventually(() => collector.records().length >= 20);
  expect(new Set(idsOf(collector.records())).size).toBe(20);
  expect(collector.records()).toHaveLength(20);
  expect(collector.records()[0]).toMatchObject({ eventName: 'waf.security', severityText: 'WARN' });
  const [first] = collector.sent;
  expect(first).toMatchObject({ path: '/v1/logs', headers: { 'x-key': 'abc' } });
  const resource = first?.body.resourceLogs?.[0]?.resource.attributes ?? [];
  expect(valueOf(resource, 'service.name')).toBe('edge');
  // They count once the collector's answer has come.
  expect(await eventually(async () => (await lane(waf, 'written')) === 20)).toBe(true);
  expect(await lane(waf, 'dropped')).toBe(0);
});

test('metrics arrive as the families of /metrics', async () => {
  const collector = await startCollector();
  const { waf } = await start({
    OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `${collector.url}/v1/metrics`,
    OTEL_METRIC_EXPORT_INTERVAL: '1000',
  });
  await eventually(() => collector.metrics().length > 0);
  const { text } = await waf.get('/metrics', false);
  const families = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => {
    return [name ?? '', type ?? ''] as const;
  });
  const shown = families.filter(([name]) => {
    return new RegExp(`^${name}(_total|_bucket|_count|_sum)?[{ ]`, 'm').test(text);
  });
  const sent = collector.metrics();
  const typeOf = (one: Metric): string => (one.sum ? 'counter' : one.gauge ? 'gauge' : 'histogram');
  const named = new Map(sent.map((one) => [one.name, typeOf(one)]));
  for (const [name, type] of shown) expect([name, named.get(name)]).toEqual([name, type]);
  expect(named.get('waf_nodes_connected')).toBe('gauge');
  expect(await lane(waf, 'dropped')).toBe(-1);
});

test('metrics are sent again at once to a collector that was busy', async () => {
  let busy = 2;
  const collector = await startCollector(() => (busy-- > 0 ? 503 : 200));
  await start({
    OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `${collector.url}/v1/metrics`,
    OTEL_METRIC_EXPORT_INTERVAL: '10000',
  });
  await eventually(() => collector.metrics().length > 0);
  const points = collector.sent.slice(0, 3).map(({ body }) => {
    const [resource] = body.resourceMetrics ?? [];
    const all = resource?.scopeMetrics.flatMap(({ metrics }) => metrics);
    return all?.find(({ name }) => name === 'process_cpu_seconds')?.sum?.dataPoints[0];
  });
  const [first, , point] = points;
  // Three rounds would have taken two intervals.
  const apart = BigInt(point?.timeUnixNano ?? 0) - BigInt(first?.timeUnixNano ?? 0);
  expect(apart).toBeLessThan(18_000_000_000n);
  expect(BigInt(point?.startTimeUnixNano ?? 0)).toBeGreaterThan(0n);
  expect(BigInt(point?.timeUnixNano ?? 0)).toBeGreaterThan(BigInt(point?.startTimeUnixNano ?? 0));
});

test('a collector that is away holds nothing up: what has no room is counted as dropped', async () => {
  let status: number | null = null;
  const collector = await startCollector(() => status);
  const { waf, link } = await start({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_METRICS_EXPORTER: 'none',
    OTEL_EXPORTER_OTLP_TIMEOUT: '1000',
    OTEL_BLRP_MAX_QUEUE_SIZE: '10',
  });
  for (let at = 0; at < 30; at++) link.observe(attack(`request-${at}`));
  await eventually(async () => (await lane(waf, 'attempted')) === 30);
  expect(await lane(waf, 'admitted')).toBe(10);
  expect(await lane(waf, 'dropped')).toBe(20);
  // All of them are kept and can be read meanwhile.
  await eventually(async () => {
    const query = { outcome: 'SECURITY_EVENT_OUTCOME_ANY', page: { pageSize: 100 } };
    const { body } = await waf.call('LogService/QuerySecurityEvents', query);
    return (body['items'] as object[] | undefined)?.length === 30;
  });
  status = 503;
  await eventually(async () => (await lane(waf, 'retried')) > 0);
  status = 200;
  await eventually(async () => (await lane(waf, 'written')) === 10);
  expect(new Set(idsOf(collector.records())).size).toBe(10);
});

test('records that the collector refuses for good are counted; the next ones arrive', async () => {
  let status = 400;
  const collector = await startCollector(() => status);
  const { waf, link } = await start({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_METRICS_EXPORTER: 'none',
  });
  link.observe(attack('bad'));
  await eventually(async () => (await lane(waf, 'dropped')) === 1);
  status = 200;
  link.observe(attack('good'));
  await eventually(() => collector.records().length > 0);
  expect(idsOf(collector.records())).toEqual(['good']);
});
