/** Holds block lists to asking little, waiting for nothing and forgetting in time. */

import { expect, test } from 'vitest';
import { blockListLimits } from '../../base/rule-limits.ts';
import { DnsBlockLists } from './block-lists.ts';

interface Asked {
  readonly name: string;
  answer(addresses: readonly string[]): void;
  fail(): void;
}

function lists(zones: readonly string[]) {
  const asked: Asked[] = [];
  const time = { us: 0 };
  const clock = { nowMs: () => 0, monotonicUs: () => time.us };
  const resolve = (name: string): Promise<readonly string[]> =>
    new Promise((answer, reject) => {
      asked.push({ name, answer, fail: () => reject(new Error('NXDOMAIN')) });
    });
  return { known: new DnsBlockLists(zones, clock, resolve), asked, time };
}

/** Lets promises that are settled run on. */
const settled = (): Promise<void> => new Promise((done) => setImmediate(done));

test('an address is asked for once, and known when the answer is there', async () => {
  const { known, asked } = lists(['BL.example']);
  expect(known.listed('192.0.2.7', 'bl.example')).toBe(false);
  expect(known.listed('192.0.2.7', 'bl.example')).toBe(false);
  expect(asked.map(({ name }) => name)).toEqual(['7.2.0.192.bl.example']);
  asked[0]?.answer(['127.0.0.2']);
  await settled();
  expect(known.listed('192.0.2.7', 'bl.example')).toBe(true);
  expect(asked).toHaveLength(1);
});

test.each([
  ['2001:db8::1', '1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.bl'],
  ['::ffff:192.0.2.1', '1.2.0.192.bl'],
])('asks for %s', (ip, name) => {
  const { known, asked } = lists(['bl']);
  known.listed(ip, 'bl');
  expect(asked.map((one) => one.name)).toEqual([name]);
});

test('nobody asks for names, networks and zones that nobody named', () => {
  const { known, asked } = lists(['bl']);
  for (const value of ['x.example', '192.0.2.0/24', '', '1.2.3']) {
    expect(known.listed(value, 'bl')).toBe(false);
  }
  expect(known.listed('192.0.2.1', 'other')).toBe(false);
  expect(asked).toEqual([]);
});

test('failures and other addresses list nothing; answers end', async () => {
  const { known, asked, time } = lists(['bl']);
  known.listed('192.0.2.1', 'bl');
  known.listed('192.0.2.2', 'bl');
  asked[0]?.fail();
  asked[1]?.answer(['192.0.2.99']);
  await settled();
  expect(known.listed('192.0.2.1', 'bl')).toBe(false);
  expect(known.listed('192.0.2.2', 'bl')).toBe(false);
  expect(asked).toHaveLength(2);
  time.us += blockListLimits.answerSeconds * 1_000_000;
  known.listed('192.0.2.1', 'bl');
  expect(asked).toHaveLength(3);
});

test('the number of concurrent queries is bounded', async () => {
  const { known, asked } = lists(['bl']);
  for (let i = 0; i < 200; i++) known.listed(`192.0.2.${i}`, 'bl');
  expect(asked).toHaveLength(blockListLimits.asksMax);
  asked[0]?.answer([]);
  await settled();
  known.listed('192.0.2.199', 'bl');
  expect(asked).toHaveLength(blockListLimits.asksMax + 1);
});
