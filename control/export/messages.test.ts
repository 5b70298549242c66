/** Tests the forms of events: the shapes that others read, and what they hold. */

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { encodeError, encodeExport } from '../../engine/link/access-fact.ts';
import { encodeFact, type EncodedFact } from '../../engine/link/security-fact.ts';
import { exportBit } from '../../engine/contract/logging.ts';
import { sampleEvent, sampleMatch } from '../../test/support/sample-event.ts';
import type { RequestEvent } from '../../engine/contract/events.ts';
import type { SiemEvent } from '../domain/settings/siem-settings.ts';
import { readFact, type ExportedFact } from './fact.ts';
import { messageOf } from './messages.ts';

const atMs = Date.UTC(2026, 10, 2, 7, 8, 9);
const selection = { access: exportBit, securityDetail: true, windowMs: 0, score: 0, revision: 1 };
const match = sampleMatch({
  ver: 'OWASP_CRS/3.3.4',
  rev: '2',
  maturity: 3,
  accuracy: 4,
  operator: '@rx (?i)union',
  matched: [{ name: 'ARGS:id', value: '1 union' }],
  disruptive: true,
});
const attack = sampleEvent({
  requestId: 'r-1',
  siteId: 'site-1',
  receivedAtMs: atMs,
  durationUs: 2_500,
  clientPort: 4711,
  method: 'POST',
  target: '/shop?id=1',
  referer: 'http://x.example/',
  status: 403,
  outcome: 'blocked',
  blocked: true,
  bytesIn: 7,
  bytesOut: 9,
  tls: { version: 'TLSv1.3', ja4: 't13' },
  transaction: record([match, sampleMatch({ ruleId: 949110, severity: 4, ver: '' })]),
  selection,
});

function record(matchedRules: readonly ReturnType<typeof sampleMatch>[]) {
  return {
    matchedRules,
    inboundScore: 8,
    outboundScore: 0,
    detectionOnly: false,
    inspectionUs: 5,
  } as unknown as NonNullable<RequestEvent['transaction']>;
}

function exported(event: SiemEvent, fact: EncodedFact | null): ExportedFact {
  const from = { agentId: 'local', tenantId: 't' };
  return readFact(event, fact?.bytes ?? new Uint8Array(), from)!;
}

const security = exported('security', encodeFact(attack));
const access = exported('access', encodeExport(attack));
const failed = { ...attack, outcome: 'origin_error', refusal: 'connect_failed' } as const;
const error = exported('error', encodeError({ ...failed, blocked: false, transaction: null }));

/** Names of all fields with the types of their values; elements of lists count as one. */
function shapeOf(value: unknown, at = ''): string[] {
  if (Array.isArray(value)) return value.length === 0 ? [] : shapeOf(value[0], `${at}[]`);
  if (typeof value !== 'object' || value === null) return [`${at}: ${typeof value}`];
  return Object.entries(value).flatMap(([name, one]) => shapeOf(one, `${at}.${name}`));
}

test('an audit record has the fields of one that ModSecurity wrote, with the same types', () => {
  const recorded = JSON.parse(
    readFileSync(new URL('modsecurity-audit.json', import.meta.url), 'utf8'),
  ) as unknown;
  const ours = messageOf(security, 'audit', '1.2.3').content;
  // Names of headers are those of a message; nodes send three of them.
  const fixed = (shape: readonly string[]): string[] =>
    shape.filter((field) => !field.includes('.headers.')).sort();
  expect(fixed(shapeOf(ours))).toEqual(fixed(shapeOf(recorded)));
  expect(fixed(shapeOf(recorded)).length).toBeGreaterThan(25);
});

test('an audit record says what happened', () => {
  const { content, severity } = messageOf(security, 'audit', '1.2.3');
  expect(severity).toBe(4);
  expect(content).toMatchObject({
    transaction: {
      client_ip: '192.0.2.1',
      client_port: 4711,
      time_stamp: 'Mon Nov  2 07:08:09 2026',
      unique_id: 'r-1',
      request: {
        method: 'POST',
        http_version: 1.1,
        uri: '/shop?id=1',
        headers: { Host: 'a.example', 'User-Agent': 'curl', Referer: 'http://x.example/' },
      },
      response: { http_code: 403 },
      producer: { connector: 'waf 1.2.3', components: ['OWASP_CRS/3.3.4'] },
      messages: [
        {
          message: 'SQL injection',
          details: {
            match:
              "Matched \"Operator `Rx' with parameter `(?i)union' against variable `ARGS:id' " +
              "(Value: `1 union' )",
            ruleId: '942100',
            file: 'x.conf',
            lineNumber: '1',
            data: 'found',
            severity: '2',
            ver: 'OWASP_CRS/3.3.4',
            rev: '2',
            maturity: '3',
            accuracy: '4',
            tags: ['attack-sqli'],
          },
        },
        { details: { ruleId: '949110', severity: '4' } },
      ],
    },
  });
});

test('an access record has the fields of the access log', () => {
  expect(messageOf(access, 'access', '1').content).toMatchObject({
    ...{ time: '2026-11-02T07:08:09.000Z', requestId: 'r-1', siteId: 'site-1', nodeId: 'local' },
    ...{ clientIp: '192.0.2.1', clientPort: 4711, method: 'POST', host: 'a.example' },
    ...{ target: '/shop?id=1', protocol: 'HTTP/1.1', tls: 'TLSv1.3', status: 403, blocked: true },
    ...{ bytesIn: 7, bytesOut: 9, durationUs: 2500, originUs: -1, outcome: 'blocked' },
  });
});

test('ECS: a security event is an alert, an access event counts bytes, an error has its code', () => {
  const alert = messageOf(security, 'ecs', '1').content;
  expect(alert).toMatchObject({
    '@timestamp': '2026-11-02T07:08:09.000Z',
    ecs: { version: '8.11.0' },
    event: { kind: 'alert', type: ['denied'], outcome: 'failure', duration: 2_500_000 },
    source: { ip: '192.0.2.1', port: 4711 },
    url: { domain: 'a.example', path: '/shop', query: 'id=1', original: '/shop?id=1' },
    http: {
      version: '1.1',
      request: { method: 'POST', id: 'r-1' },
      response: { status_code: 403 },
    },
    user_agent: { original: 'curl' },
    tls: { version: '1.3' },
    rule: { id: ['942100', '949110'] },
  });
  expect(messageOf(access, 'ecs', '1').content).toMatchObject({
    event: { kind: 'event', dataset: 'waf.access' },
    http: { request: { method: 'POST', body: { bytes: 7 } }, response: { body: { bytes: 9 } } },
  });
  expect(messageOf(error, 'ecs', '1').content).toMatchObject({
    error: { code: 'connect_failed' },
    log: { logger: 'upstream' },
  });
});

test('OCSF: requests are HTTP activity with its type, errors the base event', () => {
  const event = messageOf(security, 'ocsf', '1').content;
  expect(event).toMatchObject({
    ...{ class_uid: 4002, category_uid: 4, activity_id: 6, type_uid: 400206 },
    ...{ severity_id: 5, action_id: 2, disposition_id: 2, status_id: 2, time: atMs },
    src_endpoint: { ip: '192.0.2.1' },
    http_request: { http_method: 'POST', url: { hostname: 'a.example', path: '/shop' } },
    http_response: { code: 403 },
    firewall_rule: { uid: '942100' },
    metadata: { version: '1.3.0', product: { version: '1' } },
  });
  expect(messageOf(access, 'ocsf', '1').content).toMatchObject({ class_uid: 4002, severity_id: 1 });
  expect(messageOf(error, 'ocsf', '1').content).toMatchObject({ class_uid: 0, type_uid: 0 });
});

test('a form for one kind of event has none for the others, and damage is no event', () => {
  expect(() => messageOf(access, 'audit', '1')).toThrow('no access events');
  expect(() => messageOf(security, 'access', '1')).toThrow('no security events');
  const from = { agentId: 'local', tenantId: 't' };
  expect(readFact('security', Uint8Array.of(0x0a, 0xff), from)).toBeNull();
});
