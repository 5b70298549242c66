/** Tests of the strict HTTP/1.x response parser: a table of cases. */

import { describe, expect, test } from 'vitest';
import { BODY, SCAN } from './head-scanner.ts';
import { ResponseHeadParser } from './response-head.ts';

describe('response heads', () => {
  test.each([
    ['', -1],
    ['Keep-Alive: timeout=5\r\n', 5],
    ['Keep-Alive: max=100, Timeout=72\r\n', 72],
    ['Keep-Alive: timeout=99999999999999999999\r\n', 86_400],
    ['Keep-Alive: timeout=\r\n', -1],
    ['Keep-Alive: timeout=-1\r\n', -1],
    ['Keep-Alive: 5\r\n', -1],
    ['Keep-Alive: timeout\r\nX: =5\r\n', -1],
  ])('%j says for how long an idle connection stays', (field, seconds) => {
    const bytes = Buffer.from(`HTTP/1.1 200 OK\r\n${field}Content-Length: 0\r\n\r\n`);
    const parser = new ResponseHeadParser();
    parser.begin(0, false);
    expect(parser.execute(bytes, bytes.length)).toBe(SCAN.DONE);
    expect(parser.idleSeconds).toBe(seconds);
    parser.begin(0, false);
    expect(parser.idleSeconds).toBe(-1);
  });

  const accepted: readonly (readonly [string, boolean, number, boolean])[] = [
    ['HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n', false, BODY.LENGTH, true],
    ['HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n', true, BODY.NONE, true],
    ['HTTP/1.1 200\r\n\r\n', false, BODY.CLOSE, false],
    ['HTTP/1.1 204 \r\n\r\n', false, BODY.NONE, true],
    ['HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n', false, BODY.NONE, true],
    [
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n',
      false,
      BODY.CHUNKED,
      false,
    ],
    ['HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n', false, BODY.NONE, false],
    [
      'HTTP/1.0 200 OK\r\nContent-Length: 1\r\nConnection: keep-alive\r\n\r\n',
      false,
      BODY.LENGTH,
      true,
    ],
  ];
  test.each(accepted)('takes %j (HEAD %s)', (text, toHead, framing, keepAlive) => {
    const bytes = Buffer.from(text, 'latin1');
    const parser = new ResponseHeadParser();
    parser.begin(0, toHead);
    let result: number = SCAN.MORE;
    for (let end = 1; end <= bytes.length; end++) result = parser.execute(bytes, end);
    expect(result).toBe(SCAN.DONE);
    expect(parser.framing).toBe(framing);
    expect(parser.keepAlive).toBe(keepAlive);
  });

  test.each([
    'HTTP/1.1 20 OK\r\n\r\n',
    'HTTP/1.1  200 OK\r\n\r\n',
    'HTTP/2.0 200 OK\r\n\r\n',
    'HTTP/1.1 200 OK\n\r\n',
    'HTTP/1.1 200 OK\r\n Folded: x\r\n\r\n',
    'HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\n',
    'HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n',
    'HTTP/1.1 200 OK\r\nA: b\x01\r\n\r\n',
  ])('refuses %j', (text) => {
    const bytes = Buffer.from(text, 'latin1');
    const parser = new ResponseHeadParser();
    parser.begin(0, false);
    expect(parser.execute(bytes, bytes.length)).toBe(SCAN.REFUSED);
  });
});
