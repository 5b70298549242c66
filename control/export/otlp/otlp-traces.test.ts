/** Requests as spans: how the two of one request are joined, and what their attributes say. */

import { expect, test } from 'vitest';
import { encodeAccess, encodeError, encodeExport } from '../../../engine/link/access-fact.ts';
import { encodeFact, type EncodedFact } from '../../../engine/link/security-fact.ts';
import type { RequestEvent } from '../../../engine/contract/events.ts';
import type { RequestTrace } from '../../../engine/contract/request-trace.ts';
import { sampleEvent, sampleMatch } from '../../../test/support/sample-event.ts';
import { ecsJson } from '../ecs.ts';
import { readFact, type ExportedFact } from '../fact.ts';
import { logRecordOf } from './otlp-logs.ts';
import { spansOf } from './otlp-traces.ts';
import type { OtlpRecord } from './otlp-values.ts';

const startUs = 1_700_000_000_123_456;
const [traceId, spanId] = ['0af7651916cd43dd8448eb211c80319c', '00f067aa0ba902b7'];
const [parentId, originSpanId] = ['b7ad6b7169203331', '1111111111111111'];
const trace: RequestTrace = {
  ...{ traceId, spanId, parentId, state: 'a=1', startUs },
  origin: {
    ...{ spanId: originSpanId, fromUs: 100, untilUs: 900, status: 404 },
    ...{ scheme: 'https', skip: 4, resends: 1 },
  },
};
const request = sampleEvent({
  ...{ method: 'GET', host: 'shop.test:8080', target: '/api/cart?id=1', httpVersion: 'HTTP/2.0' },
  ...{ status: 404, durationUs: 1_000, clientIp: '203.0.113.9', clientPort: 4711 },
  ...{ endpoint: '[::1]:9000', upstreamId: 'up-1', userAgent: 'curl/8', bytesIn: 3, bytesOut: 5 },
  ...{ tls: { version: 'TLSv1.3', ja4: 't' }, trace },
});

function read(event: ExportedFact['event'], fact: EncodedFact | null): ExportedFact {
  const from = { agentId: 'node-1', tenantId: 'tenant-1' };
  return readFact(event, fact?.bytes ?? new Uint8Array(), from)!;
}

function spans(change: Partial<RequestEvent> = {}): OtlpRecord[] {
  return spansOf(read('access', encodeExport({ ...request, ...change })));
}

/** Attributes as a plain object. */
function attributesOf(span: OtlpRecord | undefined): Record<string, unknown> {
  const list = span?.['attributes'] as { key: string; value: Record<string, unknown> }[];
  return Object.fromEntries(list.map(({ key, value }) => [key, Object.values(value)[0]]));
}

test('the span of a request has that of its origin below it', () => {
  const [server, client] = spans();
  const times = (from: number, until: number) => ({
    startTimeUnixNano: `${startUs + from}000`,
    endTimeUnixNano: `${startUs + until}000`,
  });
  expect(server).toMatchObject({
    ...{ traceId, spanId, parentSpanId: parentId, traceState: 'a=1' },
    ...{ kind: 2, name: 'GET', flags: 0x301, ...times(0, 1_000) },
  });
  expect(server).not.toHaveProperty('status');
  expect(client).toMatchObject({
    ...{ traceId, spanId: originSpanId, parentSpanId: spanId, traceState: 'a=1' },
    ...{ kind: 3, name: 'GET', flags: 0x101, ...times(100, 900), status: { code: 2 } },
  });
  expect(attributesOf(server)).toMatchObject({
    'http.request.method': 'GET',
    'url.scheme': 'https',
    'url.path': '/api/cart',
    'url.query': 'id=1',
    'server.address': 'shop.test',
    'server.port': '8080',
    'http.response.status_code': '404',
    'network.protocol.version': '2',
    'tls.protocol.version': '1.3',
    'client.address': '203.0.113.9',
    'user_agent.original': 'curl/8',
    'waf.outcome': 'served',
    'waf.node.id': 'node-1',
  });
  expect(attributesOf(client)).toEqual({
    'http.request.method': 'GET',
    'url.full': 'https://[::1]:9000/cart?id=1',
    'server.address': '::1',
    'server.port': '9000',
    'http.response.status_code': '404',
    'error.type': '404',
    'http.request.resend_count': '1',
    'waf.upstream.id': 'up-1',
  });
});

test('a trace that begins here has no parent, and a request without an origin one span', () => {
  const found = spans({ trace: { ...trace, parentId: '', state: '', origin: null } });
  expect(found).toHaveLength(1);
  expect(found[0]).not.toHaveProperty('parentSpanId');
  expect(found[0]).not.toHaveProperty('traceState');
  expect(found[0]).toMatchObject({ flags: 1 });
});

test('a blocked request names its rules, and is no error of ours', () => {
  const rules = Array.from({ length: 40 }, (_, at) => sampleMatch({ ruleId: 942_100 + at }));
  const [server] = spans({
    ...{ status: 403, outcome: 'blocked', blocked: true },
    transaction: {
      verdict: { action: 'block', status: 403, ruleId: 949_110, phase: 2 },
      matchedRules: [...rules, sampleMatch({ ruleId: 1, log: false })],
      ...{ inboundScore: 5, outboundScore: 0, detectionOnly: false, inspectionUs: 10 },
    },
  });
  const { 'waf.rule.ids': ids, ...others } = attributesOf(server);
  expect((ids as { values: object[] }).values).toHaveLength(32);
  expect(others).toMatchObject({
    'waf.rule.count': '40',
    'waf.blocked': true,
    'waf.score.inbound': '5',
  });
  expect(others).not.toHaveProperty('error.type');
  expect(server).not.toHaveProperty('status');
});

test.each([
  ['a status of 500', { status: 500 }, '500'],
  [
    'an origin that failed',
    { status: 502, outcome: 'origin_error', refusal: 'connect' },
    'connect',
  ],
  ['no answer', { status: 0, outcome: 'client_abort' }, '0'],
] as const)('%s has an error type', (_name, change, type) => {
  expect(attributesOf(spans(change)[0])['error.type']).toBe(type);
});

test('an unknown method is no name of a span', () => {
  const [server] = spans({ method: 'BREW' });
  expect(server).toMatchObject({ name: 'HTTP' });
  expect(attributesOf(server)).toMatchObject({
    'http.request.method': '_OTHER',
    'http.request.method_original': 'BREW',
  });
});

test('a request in no trace has no spans, and its facts say nothing of one', () => {
  const { trace: _, ...bare } = request;
  expect(encodeExport(bare)).toBeNull();
  expect(spansOf(read('access', encodeAccess({ ...bare, selection: kept })))).toEqual([]);
  const refused = { ...bare, outcome: 'refused', refusal: 'head' } as const;
  expect(logRecordOf(read('security', encodeFact(refused)))).not.toHaveProperty('traceId');
});

const kept = { access: 1, securityDetail: true, windowMs: 0, score: 0, revision: 1 };

test('log records and documents name the span of their request', () => {
  const refused = { ...request, outcome: 'refused', refusal: 'head' } as const;
  for (const exported of [
    read('security', encodeFact(refused)),
    read('error', encodeError(refused)),
    read('access', encodeExport(refused)),
  ]) {
    expect(logRecordOf(exported)).toMatchObject({ traceId, spanId });
    expect(ecsJson(exported)).toMatchObject({ trace: { id: traceId }, span: { id: spanId } });
  }
});
