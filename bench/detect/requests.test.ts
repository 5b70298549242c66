/** Tests reading corpora, and that a split keeps together what belongs together. */

import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { formatShare, wilson } from './intervals.ts';
import { parseRequest, placeOf, readRequests, registrableDomain } from './requests.ts';

const folder = mkdtempSync(join(tmpdir(), 'waf-corpus-'));
const wire = (host: string): string =>
  Buffer.from(`GET /?a=1 HTTP/1.1\r\nHost: ${host}\r\n\r\n`).toString('base64');
const row = (id: string, host: string, label = 'benign'): string =>
  JSON.stringify({ id, label, class: 'c', wire_b64: wire(host) });

test('files and gzipped files of a folder are read, with groups by domain or payload', () => {
  const lines = [row('x', 'a.shop.co.uk'), row('y', 'b.shop.co.uk:8080'), ''].join('\n');
  writeFileSync(join(folder, 'recorded.jsonl.gz'), gzipSync(lines));
  const payloads = ['p-3/get', 'p-3/post', 'p-99/get', 'CVE-2020-1#1', 'CVE-2020-1#2'];
  const text = payloads.map((id) => row(id, 'shop.example.com', 'attack')).join('\n');
  writeFileSync(join(folder, 'sets.jsonl'), text);
  const requests = readRequests([folder]);
  expect(requests.map(({ source, attack, group }) => [source, attack, group])).toEqual([
    ['recorded', false, 'shop.co.uk'],
    ['recorded', false, 'shop.co.uk'],
    ['sets', true, 'sets p 0'],
    ['sets', true, 'sets p 0'],
    ['sets', true, 'sets p 4'],
    ['sets', true, 'sets CVE-2020-1'],
    ['sets', true, 'sets CVE-2020-1'],
  ]);
  expect(parseRequest(requests[0]!.wire)?.body).toBeNull();
});

test('a value is judged in a query and in a form', () => {
  const path = join(folder, 'values.jsonl');
  const text = "d'\u00e9t\u00e9 & 1";
  writeFileSync(path, JSON.stringify({ id: 'v-1', label: 'attack', class: 'c', text }));
  const [query, form] = readRequests([path]).map(({ id, group, wire: bytes }) => {
    return { id, group, parsed: parseRequest(bytes)!, start: bytes.toString().slice(0, 16) };
  });
  expect([query!.id, form!.id]).toEqual(['v-1/query', 'v-1/form']);
  expect(query!.group).toBe(form!.group);
  expect(query!.start).toBe('GET /search?q=%6');
  expect(query!.parsed.body).toBeNull();
  const body = Buffer.from(form!.parsed.body!.bytes).toString();
  expect(decodeURIComponent(body)).toBe(`q=${text}`);
});

test.each([
  ['{"id":"a"}', /expected id, class and wire_b64 or text/],
  [row('a', 'h', 'maybe'), /label is attack or benign/],
])('a line that is no request is named with its place: %s', (line, says) => {
  const path = join(folder, 'bad.jsonl');
  writeFileSync(path, `${row('a', 'h')}\n${line}\n`);
  expect(() => readRequests([path])).toThrow(says);
  expect(() => readRequests([path])).toThrow(/bad\.jsonl:2/);
});

test('paths that hold nothing are named', () => {
  const empty = mkdtempSync(join(tmpdir(), 'waf-corpus-'));
  expect(() => readRequests([empty])).toThrow(/holds no .jsonl/);
  expect(() => readRequests([join(empty, 'missing')])).toThrow(/does not exist/);
});

test.each([
  ['www.example.com', 'example.com'],
  ['a.b.shop.co.uk', 'shop.co.uk'],
  ['co.uk', 'co.uk'],
  ['example.com.', 'example.com'],
  ['192.0.2.7', '192.0.2.7'],
])('the registrable domain of %s is %s', (host, domain) => {
  expect(registrableDomain(host)).toBe(domain);
});

test('a place in a split depends on group and seed only, and fills the range', () => {
  expect(placeOf('a', 1)).toBe(placeOf('a', 1));
  expect(placeOf('a', 1)).not.toBe(placeOf('a', 2));
  const places = Array.from({ length: 1000 }, (_, at) => placeOf(`g${at}`, 1));
  expect(Math.min(...places)).toBeLessThan(0.02);
  expect(Math.max(...places)).toBeGreaterThan(0.98);
  expect(places.filter((place) => place < 0.5).length).toBeGreaterThan(400);
});

test.each([
  [0, 0, '–'],
  [0, 100, '0.00 % (0.00 to 3.70)'],
  [5, 100, '5.00 % (2.15 to 11.2)'],
  [50, 100, '50.0 % (40.4 to 59.6)'],
  [100, 100, '100.0 % (96.3 to 100.0)'],
])('%i of %i is %s', (hits, total, text) => {
  expect(formatShare(wilson(hits, total))).toBe(text);
});
