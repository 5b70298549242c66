/** Tests reading go-ftw files of both generations. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { renderWire } from './ftw-request.ts';
import { readFtw } from './ftw.ts';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'waf-ftw-'));
  mkdirSync(join(folder, 'REQUEST-920'));
  writeFileSync(
    join(folder, 'REQUEST-920', '920100.yaml'),
    `---
meta: { enabled: true, name: 920100.yaml }
tests:
  - test_title: 920100-1
    stages:
      - stage:
          input: { method: GET, uri: "/?a=1", headers: { Host: localhost } }
          output: { no_log_contains: 'id "920100"', status: [200] }
`,
  );
  writeFileSync(
    join(folder, 'REQUEST-920', '920200.yaml'),
    `---
rule_id: 920200
tests:
  - test_id: 7
    stages:
      - input: { method: POST, uri: /, headers: { Host: h }, data: "a" }
        output: { log: { expect_ids: [920200], no_expect_ids: [1] }, retry_once: true }
      - input: { encoded_request: "R0VUIC8gSFRUUC8xLjANCg0K" }
        output: { log: { match_regex: 'x.y' } }
  - test_id: 8
    stages:
      - input: { method: GET, uri: "/{{7*7}}" }
        output: { log: { expect_ids: [] } }
`,
  );
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('both generations are read, numbered titles and families included', () => {
  const cases = readFtw(folder);
  expect(cases.map((one) => one.title)).toEqual(['920100-1', '920200-7', '920200-8']);
  expect(new Set(cases.map((one) => one.family))).toEqual(new Set(['REQUEST-920']));
  expect(cases[0]?.stages[0]?.expect).toMatchObject({ noIds: [920100], statuses: [200] });
  expect(cases[1]?.stages[0]?.expect).toMatchObject({
    ids: [920200],
    noIds: [1],
    retryOnce: true,
  });
  expect(cases[1]?.stages[1]?.wire.toString()).toBe('GET / HTTP/1.0\r\n\r\n');
  expect(cases[1]?.stages[1]?.expect.logRegex).toBe('x.y');
  expect(cases[2]?.stages[0]?.expect.noIdsAtAll).toBe(true);
});

function wireOf(input: Record<string, unknown>): string {
  return renderWire(input).bytes?.toString('latin1') ?? '';
}

test('headers are completed, unless the file says no', () => {
  const input = { method: 'POST', uri: '/', headers: { Host: 'h' }, data: 'abc' };
  expect(wireOf(input)).toBe(
    'POST / HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 3\r\n\r\nabc',
  );
  expect(wireOf({ ...input, autocomplete_headers: false })).toBe(
    'POST / HTTP/1.1\r\nHost: h\r\n\r\nabc',
  );
});

test('forms in clear are encoded, encoded ones stay', () => {
  const form = (data: string): string =>
    wireOf({
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      data,
    }).split('\r\n\r\n')[1] ?? '';
  expect(form('b=<x>&a=1')).toBe('a=1&b=%3Cx%3E');
  expect(form('a=%3Cx%3E')).toBe('a=%3Cx%3E');
});

test('multipart lines end in CRLF', () => {
  const headers = { 'Content-Type': 'multipart/form-data; boundary=x' };
  expect(wireOf({ headers, data: '--x\nA: b\r\n' })).toContain('--x\r\nA: b\r\n');
});

test('repeat templates are expanded, unknown ones named', () => {
  expect(wireOf({ headers: {}, data: '{{ "ab" | repeat 3 }}' })).toContain('ababab');
  const unknown = renderWire({ headers: {}, data: '{{ randBytes 3 }}' });
  expect(unknown.problem).toContain('template');
});
