/** Tests that workload files become the requests that they describe. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { expandWorkload, readWorkloads, spreadByWeight } from './workload.ts';

const pass = { plain: 200, waf: 200 };

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
  const loads = readWorkloads(join(import.meta.dirname, '..', 'workloads'), 'www.example.com');
  const body = (name: string): number => {
    const { bytes } = loads.find((load) => load.name === name)!.requests[0]!;
    return bytes.length - (bytes.indexOf('\r\n\r\n') + 4);
  };
  expect(loads.map(({ name }) => name)).toEqual([
    'small-get',
    'get-six-arguments',
    'form-1k',
    'json-2k',
    'json-64k',
    'attack-mix',
  ]);
  expect(body('form-1k')).toBeGreaterThan(950);
  expect(body('form-1k')).toBeLessThan(1100);
  expect(body('json-2k')).toBeGreaterThan(1950);
  expect(body('json-2k')).toBeLessThan(2150);
  expect(body('json-64k')).toBeGreaterThan(64_000);
  expect(body('json-64k')).toBeLessThan(65_537);
  const mix = loads.at(-1)!.requests;
  const attacks = mix.filter(({ expect: wanted }) => wanted.waf === 403);
  expect(attacks.length / mix.length).toBe(0.1);
});
