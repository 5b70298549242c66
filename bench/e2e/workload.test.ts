/** Tests that workload files become the requests that they describe. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { expandWorkload, readWorkloads, spreadByWeight } from './workload.ts';

const pass = { plain: 200, waf: 200 };
const loads = readWorkloads(join(import.meta.dirname, '..', 'workloads'), 'www.example.com');

test('numbers requests, adds Host and Content-Length', () => {
  const [first, second] = expandWorkload(
    {
      title: 't',
      variants: 2,
      requests: [{ method: 'POST', path: '/a/{{n}}', body: 'x={{n}}', expect: pass }],
    },
    'www.example.com',
  );
  expect(first!.bytes.toString()).toBe(
    'POST /a/000 HTTP/1.1\r\nHost: www.example.com\r\n' +
      'Content-Type: application/json\r\nContent-Length: 5\r\n\r\nx=000',
  );
  expect(second!.bytes.toString()).toContain('POST /a/001 ');
});

test('encodes forms and keeps the number in them', () => {
  const [only] = expandWorkload(
    {
      title: 't',
      variants: 1,
      requests: [{ method: 'POST', path: '/', form: { 'a b': "it's {{n}} & more" }, expect: pass }],
    },
    'h',
  );
  const text = only!.bytes.toString();
  expect(text).toContain('Content-Type: application/x-www-form-urlencoded');
  expect(text.endsWith("\r\n\r\na+b=it's+000+%26+more")).toBe(true);
});

test('expands repeats with their index', () => {
  const json = { list: { $repeat: 2, $of: { id: '{{i}}', n: '{{n}}' } } };
  const [only] = expandWorkload(
    { title: 't', variants: 1, requests: [{ method: 'POST', path: '/', json, expect: pass }] },
    'h',
  );
  expect(JSON.parse(only!.bytes.toString().split('\r\n\r\n')[1]!)).toEqual({
    list: [
      { id: '000', n: '000' },
      { id: '001', n: '000' },
    ],
  });
});

test('spreads by weight: shares hold and rare ones stand apart', () => {
  const order = spreadByWeight([8, 1, 1], 100);
  const at = (which: number): number[] => order.flatMap((one, i) => (one === which ? [i] : []));
  expect([at(0).length, at(1).length, at(2).length]).toEqual([80, 10, 10]);
  const gaps = at(1).map((place, i, all) => place - (all[i - 1] ?? place - 10));
  expect(new Set(gaps)).toEqual(new Set([10]));
});

test('new values are encoded where they stand, and the same for every reader', () => {
  const text = {
    title: 't',
    variants: 2,
    requests: [
      {
        method: 'POST',
        path: '/a?q={{words 30}}',
        headers: { 'X-Name': '{{words 30}}' },
        form: { 'a b': "it's {{words 30}}" },
        expect: pass,
      },
    ],
  };
  const [first, second] = expandWorkload(text, 'h');
  const lines = first!.bytes.toString().split('\r\n');
  expect(lines[0]).toMatch(/^POST \/a\?q=[a-z]+[a-z+]+ HTTP\/1\.1$/);
  expect(lines.find((line) => line.startsWith('X-Name'))).toMatch(/^X-Name: [a-z]+[a-z ]+$/);
  expect(lines.at(-1)).toMatch(/^a\+b=it's\+[a-z]+[a-z+]+$/);
  expect(second!.bytes.equals(first!.bytes)).toBe(false);
  expect(second!.bytes.length).toBe(first!.bytes.length);
  expect(expandWorkload(text, 'h')[1]!.bytes.equals(second!.bytes)).toBe(true);
  const seeded = expandWorkload({ ...text, seed: 1 }, 'h')[0]!;
  expect(seeded.bytes.equals(first!.bytes)).toBe(false);
});

test('numbers have the width of the last one, so that requests stay of one size', () => {
  const requests = [{ method: 'GET', path: '/{{n}}', expect: pass }];
  const all = expandWorkload({ title: 't', variants: 1001, requests }, 'h');
  expect(new Set(all.map(({ bytes }) => bytes.length)).size).toBe(1);
});

test('refuses a seed that is not a whole number', () => {
  const requests = [{ method: 'GET', path: '/', expect: pass }];
  expect(() => expandWorkload({ title: 't', variants: 1, seed: 0.5, requests }, 'h')).toThrow(
    /seed must be/,
  );
});

test('names the file that does not fit', () => {
  const folder = mkdtempSync(join(tmpdir(), 'workload-test-'));
  try {
    writeFileSync(join(folder, 'broken.json'), '{"title":"x","variants":0,"requests":[]}');
    expect(() => readWorkloads(folder, 'h')).toThrow(/broken\.json: variants must be/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('the workloads of this repository have the sizes that their titles say', () => {
  const body = (name: string): number => {
    const { bytes } = loads.find((load) => load.name === name)!.requests[0]!;
    return bytes.length - (bytes.indexOf('\r\n\r\n') + 4);
  };
  expect(loads.map(({ name }) => name)).toEqual([
    'small-get',
    'get-six-arguments',
    'get-new-values',
    'form-1k',
    'form-1k-new',
    'json-2k',
    'json-2k-new',
    'json-64k',
    'attack-mix',
  ]);
  expect(body('form-1k')).toBeGreaterThan(950);
  expect(body('form-1k')).toBeLessThan(1100);
  expect(Math.abs(body('form-1k-new') / body('form-1k') - 1)).toBeLessThan(0.05);
  expect(body('json-2k')).toBeGreaterThan(1950);
  expect(body('json-2k')).toBeLessThan(2150);
  expect(Math.abs(body('json-2k-new') / body('json-2k') - 1)).toBeLessThan(0.05);
  expect(body('json-64k')).toBeGreaterThan(64_000);
  expect(body('json-64k')).toBeLessThan(65_537);
  const mix = loads.at(-1)!.requests;
  const attacks = mix.filter(({ expect: wanted }) => wanted.waf === 403);
  expect(attacks.length / mix.length).toBe(0.1);
});

/** Values of arguments, form fields, cookies and Referer: what a browser does not always send. */
function visitorValues(bytes: Buffer): [string, string][] {
  const [head = '', body = ''] = bytes.toString().split('\r\n\r\n');
  const [first = '', ...fields] = head.split('\r\n');
  const target = new URL(first.split(' ')[1]!, 'http://h');
  const line = (name: string): string =>
    fields.find((field) => field.startsWith(`${name}: `))!.slice(name.length + 2);
  const cookies = line('Cookie').split('; ');
  return [
    ...target.searchParams,
    ...new URLSearchParams(body),
    ...cookies.map((cookie): [string, string] => ['cookie', cookie]),
    ['referer', line('Referer')],
  ];
}

test.each([
  ['get-new-values', 11, true],
  ['form-1k-new', 11, true],
  ['get-six-arguments', 11, false],
])('%s: %d values a request, new in every one: %s', (name, count, fresh) => {
  const load = loads.find((one) => one.name === name)!;
  expect(load.fresh).toBe(fresh);
  const met = new Map<string, number>();
  for (const { bytes } of load.requests) {
    const values = visitorValues(bytes);
    expect(values).toHaveLength(count);
    for (const pair of values) met.set(pair.join('='), (met.get(pair.join('=')) ?? 0) + 1);
  }
  const all = load.requests.length * count;
  const repeated = [...met.values()].reduce((sum, times) => sum + (times > 1 ? times : 0), 0);
  if (fresh) expect(repeated / all).toBeLessThan(0.002);
  else expect(repeated / all).toBeGreaterThan(0.5);
});

/** Strings in a document, at any depth. */
function leaves(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(leaves);
}

test('json-2k-new: texts of a document come again by chance alone', () => {
  const load = loads.find(({ name }) => name === 'json-2k-new')!;
  const met = new Map<string, number>();
  for (const { bytes } of load.requests.slice(0, 512)) {
    const body = bytes.toString().split('\r\n\r\n')[1]!;
    // Shorter ones are single words and few digits.
    for (const text of leaves(JSON.parse(body))) {
      if (text.length > 8) met.set(text, (met.get(text) ?? 0) + 1);
    }
  }
  const repeated = [...met.values()].filter((times) => times > 1).length;
  expect(load.fresh).toBe(true);
  expect(repeated / met.size).toBeLessThan(0.02);
});
