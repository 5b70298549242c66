/** Proves RE2 patterns over bytes and over text: places, captures, errors, several threads. */
import { Worker } from 'node:worker_threads';
import { describe, expect, test } from 'vitest';
import { Re2 } from './re2.ts';

const pairsOf = (regex: Re2, value: string | Uint8Array, start = 0, room = 20): number[] => {
  const places = new Int32Array(room).fill(7);
  const count = regex.exec(value, start, places);
  expect([...places.subarray(2 * count)].every((one) => one === 7)).toBe(true);
  return [...places.subarray(0, 2 * count)];
};

describe('over bytes', () => {
  test('gives byte offsets and unset captures', () => {
    const regex = new Re2('(a)|(\\x{e9})b', 'bytes');
    expect(pairsOf(regex, 'xx\xe9b')).toEqual([2, 4, -1, -1, 2, 3]);
    expect(pairsOf(regex, 'aa', 1)).toEqual([1, 2, 1, 2, -1, -1]);
    expect(pairsOf(regex, 'aa', 3)).toEqual([]);
    expect(pairsOf(regex, 'aa', -1)).toEqual([]);
    expect(pairsOf(regex, 'xx\xe9b', 0, 2)).toEqual([2, 4]);
    expect(pairsOf(regex, 'xx\xe9b', 0, 0)).toEqual([]);
  });

  test('a byte is a character, in patterns and in values', () => {
    expect(new Re2('^.$', 'bytes').test('\xff')).toBe(true);
    expect(new Re2('^\xe9$', 'bytes').test(Uint8Array.of(0xe9))).toBe(true);
    expect(new Re2('x\0y', 'bytes').test('x\0y')).toBe(true);
    expect(new Re2('^$', 'bytes').test(new Uint8Array(0))).toBe(true);
  });

  test('looks at what stands before the place where it begins', () => {
    expect(pairsOf(new Re2('^b', 'bytes'), 'ab', 1)).toEqual([]);
    expect(pairsOf(new Re2('\\bb', 'bytes'), 'ab b', 1)).toEqual([3, 4]);
  });

  test('reads long values, and shared memory', () => {
    const long = `${'x'.repeat(3 << 20)}b`;
    expect(pairsOf(new Re2('b', 'bytes'), long)).toEqual([3 << 20, (3 << 20) + 1]);
    const shared = new Uint8Array(new SharedArrayBuffer(2));
    shared.set([0x61, 0x62]);
    expect(pairsOf(new Re2('b', 'bytes'), shared)).toEqual([1, 2]);
  });
});

test('over text a character is a code point, half of one U+FFFD', () => {
  expect(new Re2('^.$', 'text').test('\u{1f600}')).toBe(true);
  expect(new Re2('^\\x{fffd}$', 'text').test('\ud800')).toBe(true);
  expect(new Re2('^é$', 'text').test(Buffer.from('é'))).toBe(true);
  expect(new Re2('^..$', 'text').test('é')).toBe(false);
});

test.each(['(', '(?=a)', '(a)\\1', 'a{1001}', '\\p{Foo}'])('%j is no pattern of RE2', (pattern) => {
  const wanted = expect.objectContaining({ code: 're2_compile' }) as Error;
  for (const reading of ['bytes', 'text'] as const) {
    expect(() => new Re2(pattern, reading)).toThrow(wanted);
  }
});

test('takes nothing but strings and bytes', () => {
  const regex = new Re2('a', 'bytes');
  expect(() => regex.test(7 as unknown as string)).toThrow(TypeError);
  expect(() => regex.test(new Int32Array(2) as unknown as Uint8Array)).toThrow(TypeError);
  expect(() => regex.exec('a', 0, [] as unknown as Int32Array)).toThrow(TypeError);
  expect(() => new Re2(7 as unknown as string, 'bytes')).toThrow(TypeError);
});

test('takes time linear in the value', () => {
  expect(new Re2('^(a+)+$', 'bytes').test(`${'a'.repeat(100_000)}!`)).toBe(false);
});

/** Plain JavaScript, because a worker loads no TypeScript here. */
const workerSource = `
  const { parentPort, workerData } = require('node:worker_threads');
  const { Re2 } = require(workerData);
  const places = new Int32Array(4);
  const answers = new Set();
  for (let i = 0; i < 5000; i++) {
    const count = new Re2('b(' + (i % 7) + ')', false).exec('ab' + (i % 7), 0, places);
    answers.add(count + places.join());
  }
  parentPort.postMessage([...answers]);
`;

test('runs in several threads at once', async () => {
  const workerData = `${process.cwd()}/build/Release/waf_re2.node`;
  const workers = [1, 2, 3].map(() => new Worker(workerSource, { eval: true, workerData }));
  const answers = workers.map(
    (worker) =>
      new Promise((resolve, reject) => {
        worker.once('message', resolve);
        worker.once('error', reject);
      }),
  );
  expect(await Promise.all(answers)).toEqual([1, 2, 3].map(() => ['21,3,2,3']));
});
