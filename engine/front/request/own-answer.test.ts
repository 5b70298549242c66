/** Holds our own answers to what the wire allows for their status. */

import { expect, test } from 'vitest';
import { ByteWriter } from '../../http/byte-writer.ts';
import { writeOwnAnswer, type OwnAnswer } from './own-answer.ts';

const answer: OwnAnswer = {
  status: 403,
  scenario: 'waf_block',
  location: null,
  delivery: null,
  strictTransport: '',
  rateLines: '',
  guard: null,
  plain: false,
  keepAlive: true,
  http10: false,
  isHead: false,
  requestId: 'r1',
  receivedAtMs: 0,
  acceptsHtml: false,
  settings: undefined,
};

function written(change: Partial<OwnAnswer>): { head: string; body: string; bodyBytes: number } {
  const writer = new ByteWriter();
  const { bodyBytes } = writeOwnAnswer(writer, { ...answer, ...change });
  const [head = '', ...rest] = writer.take().toString('latin1').split('\r\n\r\n');
  return { head, body: rest.join('\r\n\r\n'), bodyBytes };
}

test.each([
  [403, 'HTTP/1.1 403 Forbidden'],
  [418, "HTTP/1.1 418 I'm a Teapot"],
  [301, 'HTTP/1.1 301 Moved Permanently'],
  [302, 'HTTP/1.1 302 Found'],
  [599, 'HTTP/1.1 599 Error'],
  [399, 'HTTP/1.1 399 Redirect'],
  // A refusal that looks like success is none: the operator's status stands in.
  [200, 'HTTP/1.1 403 Forbidden'],
  [100, 'HTTP/1.1 403 Forbidden'],
])('a rule that denies with %d', (status, line) => {
  const { head, body, bodyBytes } = written({ status });
  expect(head.split('\r\n')[0]).toBe(line);
  expect(bodyBytes).toBe(body.length);
  expect(JSON.parse(body)).toMatchObject({ requestId: 'r1' });
});

test('304 and HEAD have no body', () => {
  expect(written({ status: 304 })).toMatchObject({ body: '', bodyBytes: 0 });
  expect(written({ isHead: true })).toMatchObject({ body: '', bodyBytes: 0 });
});

test('a redirect holds nothing that could end its line', () => {
  const { head } = written({ status: 302, location: '/a\r\nSet-Cookie: x\0 b' });
  expect(head.split('\r\n').filter((line) => line.startsWith('Location'))).toEqual([
    'Location: /aSet-Cookie:xb',
  ]);
  expect(head).not.toContain('\r\nSet-Cookie');
});

test.each(['waf_block', 'rate_limit', 'service_unavailable', null] as const)(
  'the page of %s has no Retry-After of its own: a guard that limits rates adds one',
  (scenario) => {
    for (const status of [403, 429, 503]) {
      expect(written({ scenario, status }).head).not.toMatch(/retry-after/i);
    }
  },
);
