/** A request is made anew from the values that rules matched. */

import { expect, test } from 'vitest';
import type { SecurityEventJson } from '../../../proto/gen/waf/v1/log_pb.ts';
import { rebuildRequest } from './rebuilt-request.ts';

type Matched = readonly [variable: string, key: string, value: string];

const event = (method: string, ...matched: readonly Matched[]): SecurityEventJson => ({
  ...{ method, host: 'shop.test', path: '/save', clientIp: '192.0.2.9' },
  messages: matched.map(([variable, key, value]) => ({
    ruleId: '942100',
    matchedValues: [{ variable, key, value }],
  })),
});

/** Target, fields that tests look at and body. */
function made(...given: Parameters<typeof event>) {
  const found = rebuildRequest(event(...given));
  if (found === null) return null;
  const [line = '', ...fields] = Buffer.from(found.head).toString().trimEnd().split('\r\n');
  return { ...found, line, fields, body: Buffer.from(found.body).toString() };
}

test('arguments of a POST are a form, those of a GET a query', () => {
  const post = made('POST', ['ARGS', 'text', "1' or '1'='1"], ['ARGS_GET', 'q', 'a b']);
  expect(post?.line).toBe('POST /save?q=a%20b HTTP/1.1');
  expect(post?.body).toBe("text=1'%20or%20'1'%3D'1");
  expect(post?.fields).toContain('Content-Type: application/x-www-form-urlencoded');
  expect(post?.fields).toContain(`Content-Length: ${post?.body.length}`);
  expect(made('GET', ['ARGS', 'q', 'é\ud800'])?.line).toBe('GET /save?q=%C3%A9%EF%BF%BD HTTP/1.1');
  expect(made('POST', ['ARGS_NAMES', '<b>', '<b>'])?.body).toBe('%3Cb%3E=');
  expect(made('GET', ['ARGS_RENAMED', 'a_b', '1'])?.line).toBe('GET /save?a_b=1 HTTP/1.1');
});

test('one value of a name is sent once, as the reading that was decoded least', () => {
  const readings: Matched[] = [
    ['ARGS', 'q', '<b>'],
    ['ARGS', 'q', '&lt;b&gt;'],
    ['ARGS', 'q', '<B>'],
  ];
  expect(made('POST', ...readings)?.body).toBe('q=%26lt%3Bb%26gt%3B');
});

test('fields and cookies are given back; what no request can be given is named', () => {
  const found = made(
    ...(['POST', ['REQUEST_HEADERS', 'X-A', 'one'], ['REQUEST_COOKIES', 'c', 'a;b']] as const),
    ...([
      ['REQUEST_HEADERS', 'Host', 'evil'],
      ['REQUEST_HEADERS', 'X-B', 'a\r\nB: c'],
      ['REQUEST_HEADERS_RENAMED', 'X-C', 'two'],
      ['REQUEST_COOKIES_RENAMED', 'c_d', '1'],
    ] as const),
    ...([
      ['REQUEST_BODY', '', '{}'],
      ['TX', 'score', '5'],
    ] as const),
  );
  expect(found?.fields).toEqual(
    expect.arrayContaining(['X-A: one', 'X-C: two', 'Cookie: c=a%3Bb; c_d=1']),
  );
  expect(found?.fields.filter((one) => /evil|^B:/.test(one))).toEqual([]);
  expect(found?.leftOut).toEqual(['REQUEST_HEADERS:Host', 'REQUEST_HEADERS:X-B', 'REQUEST_BODY']);
});

test('an event without a value to give, or without a request line, makes none', () => {
  expect(made('POST')).toBeNull();
  expect(made('POST', ['REQUEST_BODY', '', 'x'])).toBeNull();
  expect(made('', ['ARGS', 'q', 'x'])).toBeNull();
  expect(rebuildRequest({ ...event('GET', ['ARGS', 'q', 'x']), path: '/a b' })).toBeNull();
});
