/** Holds own forms of the access log to their variables, and to one line with as many fields. */

import { expect, test } from 'vitest';
import type { RequestEvent } from '../contract/events.ts';
import { accessLogVariables, ownLine, readOwnFormat } from './access-format.ts';
import { accessLine } from './access-line.ts';

const flag = '--access-log-format';
const event: RequestEvent = {
  requestId: 'r1',
  siteId: 's1',
  receivedAtMs: Date.UTC(2026, 10, 22, 16, 4, 29, 123),
  durationUs: 1_234_400,
  originUs: 900,
  clientIp: '192.0.2.7',
  clientPort: 40_000,
  method: 'GET',
  host: 'shop.example',
  target: '/a?b=1',
  httpVersion: 'HTTP/1.1',
  tls: { version: 'TLSv1.3', ja4: 't13d' },
  userAgent: 'Some Agent/8',
  referer: 'http://shop.example/',
  status: 403,
  outcome: 'blocked',
  blocked: true,
  refusal: 'rate',
  bytesIn: 7,
  bytesOut: 512,
  endpoint: '127.0.0.1:9000',
  upstreamId: 'u1',
  routeId: 't1',
  transaction: {
    ...{ verdict: { action: 'pass' }, inboundScore: 5, outboundScore: 0 },
    ...{ detectionOnly: false, inspectionUs: 1 },
    matchedRules: [
      { ruleId: 1, log: true },
      { ruleId: 2, log: false },
      { ruleId: 3, log: true },
    ],
  } as never,
};

const values: Readonly<Record<string, string>> = {
  args: 'b=1',
  body_bytes_sent: '512',
  host: 'shop.example',
  http_referer: 'http://shop.example/',
  http_user_agent: 'Some Agent/8',
  msec: '1795363469.123',
  query_string: 'b=1',
  remote_addr: '192.0.2.7',
  remote_port: '40000',
  request: 'GET /a?b=1 HTTP/1.1',
  request_id: 'r1',
  request_method: 'GET',
  request_time: '1.234',
  request_uri: '/a?b=1',
  scheme: 'https',
  server_protocol: 'HTTP/1.1',
  ssl_protocol: 'TLSv1.3',
  status: '403',
  time_iso8601: '2026-11-22T16:04:29.123Z',
  time_local: '22/Nov/2026:16:04:29 +0000',
  upstream_addr: '127.0.0.1:9000',
  upstream_header_time: '0.001',
  uri: '/a',
  waf_blocked: '1',
  waf_body_bytes_received: '7',
  waf_ja4: 't13d',
  waf_outcome: 'blocked',
  waf_reason: 'rate',
  waf_route: 't1',
  waf_rules: '1,3',
  waf_score: '5',
  waf_site: 's1',
  waf_upstream: 'u1',
};

test.each(accessLogVariables)('$%s has its value, in both spellings', (name) => {
  const line = ownLine(event, readOwnFormat(flag, `"$${name}" "\${${name}}"`));
  expect(line).toBe(`"${values[name]}" "${values[name]}"\n`);
});

test('the form of nginx gives the line that combined gives', () => {
  const combined =
    '$remote_addr - - [$time_local] "$request" $status $body_bytes_sent ' +
    '"$http_referer" "$http_user_agent"';
  expect(accessLine(event, readOwnFormat(flag, combined))).toBe(accessLine(event, 'combined'));
});

test('a value that a request does not have is a hyphen', () => {
  const bare = { ...event, method: '', target: '', status: 0, originUs: -1, endpoint: null };
  const format = readOwnFormat(flag, '$request|$args|$status|$upstream_header_time|$upstream_addr');
  expect(ownLine({ ...bare, transaction: null }, format)).toBe('-|-|-|-|-\n');
});

test('no byte of a client ends a line, a quoted part or a field', () => {
  const bytes = Array.from({ length: 256 }, (_, byte) => String.fromCharCode(byte)).join('');
  const nasty = { method: bytes, target: bytes, host: bytes, httpVersion: bytes };
  const form = accessLogVariables.filter((name) => name !== 'time_local');
  const format = readOwnFormat(flag, form.map((name) => `$${name} "$${name}"`).join(' '));
  const line = ownLine({ ...event, ...nasty, userAgent: bytes, referer: bytes }, format);
  expect(line).toMatch(/^[ -~]*\n$/);
  expect(line.match(/"/g)).toHaveLength(2 * form.length);
  const unquoted = line.slice(0, -1).replace(/"[^"]*"/g, 'Q');
  expect(unquoted.split(' ')).toHaveLength(2 * form.length);
});

test.each([
  ['$nothing', 'has no variable $nothing; it has args, '],
  ['$remote_user', 'has no variable $remote_user'],
  ['$http_cookie', 'has no variable $http_cookie'],
  ['${status', 'has no variable $'],
  ['a $ b', 'has no variable $;'],
  ['$toString', 'has no variable $toString'],
  ['$status\n$host', 'takes printable ASCII in one line'],
  ['$status \x1b[31m', 'takes printable ASCII in one line'],
  ['x'.repeat(4_097), 'takes at most 4096 characters'],
])('refuses %j', (text, problem) => {
  expect(() => readOwnFormat(flag, text)).toThrow(`${flag} ${problem}`);
});
