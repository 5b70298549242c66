/** Holds lines of the access log to their forms, and to showing no control character. */

import { expect, test } from 'vitest';
import type { RequestEvent } from '../contract/events.ts';
import { accessLine, accessLogFormats } from './access-line.ts';

const plain: RequestEvent = {
  requestId: 'r1',
  siteId: 's1',
  receivedAtMs: Date.UTC(2026, 10, 22, 16, 4, 29, 123),
  durationUs: 1234.4,
  originUs: 900,
  clientIp: '192.0.2.7',
  clientPort: 40_000,
  method: 'GET',
  host: 'shop.example',
  target: '/a?b=1',
  httpVersion: 'HTTP/1.1',
  userAgent: 'curl/8',
  referer: 'http://shop.example/',
  status: 200,
  outcome: 'served',
  blocked: false,
  refusal: null,
  bytesIn: 0,
  bytesOut: 512,
  endpoint: '127.0.0.1:9000',
  transaction: null,
};

test.each([
  ['common', plain, '192.0.2.7 - - [22/Nov/2026:16:04:29 +0000] "GET /a?b=1 HTTP/1.1" 200 512\n'],
  [
    'combined',
    plain,
    '192.0.2.7 - - [22/Nov/2026:16:04:29 +0000] "GET /a?b=1 HTTP/1.1" 200 512 ' +
      '"http://shop.example/" "curl/8"\n',
  ],
  // Nothing was read, nothing was sent.
  [
    'combined',
    { ...plain, method: '', target: '', httpVersion: '', userAgent: '', referer: '', status: 0 },
    '192.0.2.7 - - [22/Nov/2026:16:04:29 +0000] "-" - 512 "-" "-"\n',
  ],
  [
    'common',
    { ...plain, target: '/"\\\n\x1b\xe9', bytesOut: 0, status: 403 },
    '192.0.2.7 - - [22/Nov/2026:16:04:29 +0000] "GET /\\x22\\x5C\\x0A\\x1B\\xE9 HTTP/1.1" 403 -\n',
  ],
] as const)('%s', (format, event, line) => {
  expect(accessLine(event, format)).toBe(line);
});

test('JSON tells how the request ended and which rules matched', () => {
  const rule = { ruleId: 942100, log: true } as never;
  const transaction = { matchedRules: [rule], inboundScore: 5 } as never;
  const tls = { version: 'TLSv1.3', ja4: 't13d1516h2_8daaf6152771_e5627efa2ab1' };
  const ending = { outcome: 'blocked', blocked: true, status: 403 } as const;
  const event = { ...plain, ...ending, transaction, tls };
  expect(JSON.parse(accessLine(event, 'json'))).toEqual({
    time: '2026-11-22T16:04:29.123Z',
    requestId: 'r1',
    siteId: 's1',
    clientIp: '192.0.2.7',
    clientPort: 40_000,
    method: 'GET',
    host: 'shop.example',
    target: '/a?b=1',
    protocol: 'HTTP/1.1',
    tls: 'TLSv1.3',
    ja4: 't13d1516h2_8daaf6152771_e5627efa2ab1',
    status: 403,
    outcome: 'blocked',
    reason: '',
    blocked: true,
    bytesIn: 0,
    bytesOut: 512,
    durationUs: 1234,
    originUs: 900,
    endpoint: '127.0.0.1:9000',
    referer: 'http://shop.example/',
    userAgent: 'curl/8',
    score: 5,
    rules: [942_100],
  });
});

test.each(accessLogFormats)(
  '%s: no byte that a client sends breaks or colors the line',
  (format) => {
    // Every byte by itself, and as UTF-8 what turns the direction of text or ends a line.
    const bytes = Array.from({ length: 256 }, (_, byte) => String.fromCharCode(byte)).join('');
    const marks = Buffer.from('\u0085\u202e\u2028\u2066\ufeff\u009b31m').toString('latin1');
    const nasty = bytes + marks;
    const event = { ...plain, method: nasty, target: nasty, userAgent: nasty, referer: nasty };
    const line = accessLine({ ...event, host: nasty, httpVersion: nasty }, format);
    expect(line.endsWith('\n')).toBe(true);
    const shown = line.slice(0, -1);
    expect(shown).not.toMatch(
      /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/,
    );
    if (format === 'json') expect(JSON.parse(shown)).toMatchObject({ clientIp: '192.0.2.7' });
    // A quote of the client's never ends a quoted part.
    else expect(shown.match(/"/g)).toHaveLength(format === 'common' ? 2 : 6);
  },
);
