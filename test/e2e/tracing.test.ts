/**
 * Runs the product between a client and an origin that are in a trace: over HTTP/1.1 and HTTP/2 the
 * spans that a collector gets join up with what the client sent and the origin received.
 */

import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { request as httpRequest } from 'node:http';
import http2 from 'node:http2';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { missingBuild, startProduct, type Product } from '../support/product.ts';

interface Attribute {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}
interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly Attribute[];
}
interface TracesRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly Span[] }[];
  }[];
}

let product: Product;
let collector: Server;
let origin: Server;
const received: IncomingHttpHeaders[] = [];
const bodies: { path: string; body: TracesRequest }[] = [];

const parentSpan = 'b7ad6b7169203331';
const server = 2;
const client = 3;

if (missingBuild !== null) console.log(missingBuild);

const environment = {
  OTEL_TRACES_SAMPLER: 'always_on',
  OTEL_SERVICE_NAME: 'edge',
  OTEL_BSP_SCHEDULE_DELAY: '0',
};

beforeAll(async () => {
  if (missingBuild !== null) return;
  origin = createServer((request, response) => {
    received.push(request.headers);
    response.end('ok');
  });
  collector = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString()));
    request.on('end', () => {
      bodies.push({ path: request.url ?? '', body: JSON.parse(text) as TracesRequest });
      response.end('{}');
    });
  });
  for (const one of [origin, collector]) {
    await new Promise<void>((resolve) => one.listen(0, '127.0.0.1', resolve));
  }
  const { port } = collector.address() as AddressInfo;
  const endpoint = `http://127.0.0.1:${port}/v1/traces`;
  Object.assign(process.env, environment, { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: endpoint });
  product = await startProduct('--no-demo');
  const url = `http://127.0.0.1:${(origin.address() as AddressInfo).port}`;
  const words = ['--name', 'shop', '--host', 'shop.test', '--upstream', url];
  const { code, stderr } = product.waf('site', 'create', ...words);
  if (code !== 0) throw new Error(stderr);
  // The first site's rules are compiled before it serves.
  await eventually(async () => (await ask('/', {})) === 200, 300_000);
}, 600_000);
afterAll(async () => {
  if (missingBuild !== null) return;
  for (const name of [...Object.keys(environment), 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT']) {
    delete process.env[name];
  }
  await product?.stop();
  origin?.close();
  collector?.closeAllConnections();
  collector?.close();
});

/** One request over HTTP/1.1; its status. */
function ask(path: string, headers: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    const all = { host: 'shop.test', ...headers };
    const where = { port: product.proxyPort, path, headers: all, agent: false };
    const asked = httpRequest(where, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0));
    });
    asked.on('error', reject);
    asked.end();
  });
}

/** The same over HTTP/2. */
async function ask2(path: string, headers: Record<string, string>): Promise<number> {
  const session = http2.connect(`http://127.0.0.1:${product.proxyPort}`);
  try {
    return await new Promise((resolve, reject) => {
      let status = 0;
      const asked = session.request({ ':path': path, ':authority': 'shop.test', ...headers });
      asked.on('response', (fields) => (status = fields[':status'] ?? 0));
      asked.on('error', reject);
      asked.resume().on('close', () => resolve(status));
    });
  } finally {
    session.destroy();
  }
}

const spansOf = (traceId: string): Span[] =>
  bodies
    .flatMap(({ body }) => body.resourceSpans)
    .flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))
    .filter((span) => span.traceId === traceId);

const attribute = (span: Span | undefined, name: string): unknown =>
  Object.values(span?.attributes.find(({ key }) => key === name)?.value ?? {})[0];

async function spanPair(traceId: string, count: number) {
  await eventually(() => spansOf(traceId).length === count);
  const spans = spansOf(traceId);
  const ofKind = (kind: number): Span | undefined => spans.find((span) => span.kind === kind);
  return { asked: ofKind(server), forwarded: ofKind(client) };
}

test.skipIf(missingBuild !== null).each([
  ['HTTP/1.1', ask, '1.1', '0af7651916cd43dd8448eb211c803191'],
  ['HTTP/2', ask2, '2', '0af7651916cd43dd8448eb211c803192'],
] as const)('a trace over %s joins client, proxy and origin', async (_name, by, version, trace) => {
  const headers = { traceparent: `00-${trace}-${parentSpan}-01`, tracestate: 'vendor=1' };
  expect(await by('/joined?a=b', headers)).toBe(200);
  const { asked, forwarded } = await spanPair(trace, 2);
  expect(asked?.parentSpanId).toBe(parentSpan);
  expect(forwarded?.parentSpanId).toBe(asked?.spanId);
  expect(received.at(-1)).toMatchObject({
    traceparent: `00-${trace}-${forwarded?.spanId}-01`,
    tracestate: 'vendor=1',
  });
  expect(attribute(asked, 'url.path')).toBe('/joined');
  expect(attribute(asked, 'network.protocol.version')).toBe(version);
  expect(attribute(asked, 'http.response.status_code')).toBe('200');
  const nanos = (text: string | undefined): bigint => BigInt(text ?? 0);
  expect(nanos(asked?.startTimeUnixNano)).toBeLessThanOrEqual(nanos(forwarded?.startTimeUnixNano));
  expect(nanos(forwarded?.endTimeUnixNano)).toBeLessThanOrEqual(
    nanos(asked?.endTimeUnixNano) + 1000n,
  );
  const { path, body } = bodies[0]!;
  expect(path).toBe('/v1/traces');
  const resource = body.resourceSpans[0]?.resource.attributes;
  expect(resource).toContainEqual({ key: 'service.name', value: { stringValue: 'edge' } });
});

test.skipIf(missingBuild !== null)('a blocked attack is one span with its rules', async () => {
  const trace = '0af7651916cd43dd8448eb211c803193';
  const before = received.length;
  const traceparent = `00-${trace}-${parentSpan}-00`;
  expect(await ask('/?id=1%27%20OR%20%271%27=%271', { traceparent })).toBe(403);
  const { asked, forwarded } = await spanPair(trace, 1);
  expect(forwarded).toBeUndefined();
  expect(received).toHaveLength(before);
  expect(attribute(asked, 'waf.outcome')).toBe('blocked');
  expect(JSON.stringify(attribute(asked, 'waf.rule.ids'))).toContain('942100');
  // The event that operators see names the trace.
  await eventually(() => {
    const { stdout } = product.waf('log', 'security', '--output', 'json');
    return stdout.includes(trace);
  });
});
