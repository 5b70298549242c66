/** Heads between HTTP/1.1 and HTTP/2 for origins: what is translated, left out and refused. */

import { expect, test } from 'vitest';
import { httpLimits } from '../../base/delivery-limits.ts';
import { answerHead, readOwnHead, trailerLines } from './http2-heads.ts';

test('our own head becomes fields: the host an authority, hop-by-hop fields nothing', () => {
  const text = [
    'POST /a?b=c HTTP/1.1',
    ...['Host: shop.example', 'X-One: 1', 'x-one: 2', 'Connection: close'],
    ...['Transfer-Encoding: chunked', 'Empty:'],
  ].join('\r\n');
  expect(readOwnHead(text, 'https')).toEqual({
    chunked: true,
    fields: {
      ...{ ':method': 'POST', ':path': '/a?b=c', ':scheme': 'https' },
      ...{ ':authority': 'shop.example', 'x-one': ['1', '2'], empty: '', te: 'trailers' },
    },
  });
});

test.each<[string, number, string[], boolean, string | null]>([
  ['with content', 200, ['a', 'b'], false, 'a: b\r\ntransfer-encoding: chunked'],
  ['of a length', 200, ['content-length', '5'], false, 'content-length: 5'],
  ['without content', 200, ['a', 'b'], true, 'a: b\r\ncontent-length: 0'],
  ['that has none ever', 204, ['a', 'b'], true, 'a: b'],
  [
    'with fields of one connection',
    304,
    ['connection', 'x', 'upgrade', 'y', 'a', 'b'],
    true,
    'a: b',
  ],
  ['with a line break in a value', 200, ['a', 'b\r\nc: d'], false, null],
  ['with a blank in a name', 200, ['a b', 'c'], false, null],
  ['with a NUL', 200, ['a', 'b\0'], false, null],
])('an answer %s', (_, status, raw, ended, wanted) => {
  const head = answerHead(status, [':status', String(status), ...raw], ended);
  expect(head?.toString('latin1') ?? null).toBe(
    wanted === null ? null : `HTTP/1.1 ${status} \r\n${wanted}\r\n\r\n`,
  );
});

test.each<[string, string[], string | null]>([
  ['as lines', ['grpc-status', '0', 'X-B', 'c d'], 'grpc-status: 0\r\nx-b: c d\r\n'],
  ['that frame', ['content-length', '9', 'transfer-encoding', 'chunked', 'a', 'b'], 'a: b\r\n'],
  ['that route', ['host', 'x', 'a', 'b'], 'a: b\r\n'],
  ['that only look like framing', ['content_length', '9', 'a', 'b'], 'a: b\r\n'],
  ['with a line break', ['a', 'b\r\n\r\nHTTP/1.1 200', 'c', 'd'], 'c: d\r\n'],
  ['up to the bound', ['a', 'x'.repeat(httpLimits.trailerBytesMax - 7)], 'whole'],
  ['past the bound', ['a', 'x'.repeat(httpLimits.trailerBytesMax - 6)], null],
])('trailers %s', (_, raw, wanted) => {
  const lines = trailerLines(raw);
  if (wanted === 'whole') expect(lines).toHaveLength(httpLimits.trailerBytesMax - 2);
  else expect(lines).toBe(wanted);
});
