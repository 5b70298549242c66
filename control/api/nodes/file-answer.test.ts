/** Ranges, validators and HEAD of a file that is handed out. */

import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sendFile } from './file-answer.ts';

let server: Server;
let url = '';
const content = '0123456789';
const tag = '"abc"';

beforeAll(async () => {
  const path = join(mkdtempSync(join(tmpdir(), 'waf-file-')), 'file');
  writeFileSync(path, content);
  const file = { path, sha256: 'abc', bytes: content.length };
  server = createServer((request, response) => sendFile(file, request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
afterAll(() => server.close());

test.each<[string, string, Record<string, string>, number, string, string | null]>([
  ['the whole', 'GET', {}, 200, content, null],
  ['a range', 'GET', { range: 'bytes=2-4' }, 206, '234', 'bytes 2-4/10'],
  ['the rest', 'GET', { range: 'bytes=7-' }, 206, '789', 'bytes 7-9/10'],
  ['the last bytes', 'GET', { range: 'bytes=-3' }, 206, '789', 'bytes 7-9/10'],
  ['more than there is', 'GET', { range: 'bytes=8-99' }, 206, '89', 'bytes 8-9/10'],
  ['past the end', 'GET', { range: 'bytes=10-' }, 416, '', 'bytes */10'],
  ['no last bytes', 'GET', { range: 'bytes=-0' }, 416, '', 'bytes */10'],
  ['a range backwards', 'GET', { range: 'bytes=4-2' }, 200, content, null],
  ['several ranges', 'GET', { range: 'bytes=0-1,3-4' }, 200, content, null],
  ['another unit', 'GET', { range: 'lines=0-1' }, 200, content, null],
  [
    'a range of this file',
    'GET',
    { range: 'bytes=0-1', 'if-range': tag },
    206,
    '01',
    'bytes 0-1/10',
  ],
  ['a range of another file', 'GET', { range: 'bytes=0-1', 'if-range': '"x"' }, 200, content, null],
  ['a known file', 'GET', { 'if-none-match': tag }, 304, '', null],
  ['a known file among others', 'GET', { 'if-none-match': `"x", W/${tag}` }, 304, '', null],
  ['a known file, ranged', 'GET', { 'if-none-match': tag, range: 'bytes=0-1' }, 304, '', null],
  ['another file', 'GET', { 'if-none-match': '"x"' }, 200, content, null],
  ['HEAD', 'HEAD', {}, 200, '', null],
  ['HEAD ignores ranges', 'HEAD', { range: 'bytes=2-4' }, 200, '', null],
])('%s', async (_, method, headers, status, body, range) => {
  const answer = await fetch(url, { method, headers });
  expect([answer.status, await answer.text()]).toEqual([status, body]);
  expect(answer.headers.get('content-range')).toBe(range);
  expect([answer.headers.get('etag'), answer.headers.get('accept-ranges')]).toEqual([tag, 'bytes']);
  if (method === 'HEAD') expect(answer.headers.get('content-length')).toBe('10');
});
