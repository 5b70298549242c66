/** Tests of the fair queue: shares, order within a flow, who is dropped when it is full. */

import { expect, test } from 'vitest';
import { poolLimits } from '../base/limits.ts';
import { FairQueue, type Queued } from './fair-queue.ts';

interface Item extends Queued {
  readonly name: string;
}

const quantum: number = poolLimits.fairQuantumBytes;

function item(name: string, cost = quantum, kept = false): Item {
  return { name, cost, kept };
}

function drain(queue: FairQueue<Item>, count = Infinity): string[] {
  const names: string[] = [];
  for (let next = queue.pop(); next !== null; next = queue.pop()) {
    names.push(next.name);
    if (names.length === count) break;
  }
  return names;
}

test('one flow is a plain queue', () => {
  const queue = new FairQueue<Item>(100);
  for (let i = 0; i < 50; i++) queue.push(item(String(i), i * 1000), ['s', 'c']);
  expect(drain(queue)).toEqual(Array.from({ length: 50 }, (_, i) => String(i)));
  expect(queue.size).toBe(0);
  expect(queue.pop()).toBeNull();
});

test('a flow that begins is served next, whatever waits of the others', () => {
  const queue = new FairQueue<Item>(1000);
  for (let i = 0; i < 100; i++) queue.push(item('many', 13 * quantum), ['a', 'c']);
  drain(queue, 3);
  queue.push(item('one'), ['b', 'c']);
  expect(drain(queue, 1)).toEqual(['one']);
});

test('sites share alike, however many clients one of them has', () => {
  const queue = new FairQueue<Item>(1000);
  for (let i = 0; i < 100; i++) queue.push(item('attacked'), ['a', `c${i}`]);
  for (let i = 0; i < 20; i++) queue.push(item('victim'), ['b', 'c']);
  const first = drain(queue, 40);
  expect(first.filter((name) => name === 'victim').length).toBeGreaterThanOrEqual(19);
});

test('clients of one site share alike by bytes, not by items', () => {
  const queue = new FairQueue<Item>(1000);
  for (let i = 0; i < 40; i++) queue.push(item('large', 10 * quantum), ['a', 'x']);
  for (let i = 0; i < 200; i++) queue.push(item('small'), ['a', 'y']);
  const first = drain(queue, 110);
  const large = first.filter((name) => name === 'large').length;
  expect(large).toBeGreaterThanOrEqual(8);
  expect(large).toBeLessThanOrEqual(12);
});

test('a flow that was served much and comes again waits for its debt, but not when idle', () => {
  const queue = new FairQueue<Item>(1000);
  queue.push(item('huge', 50 * quantum), ['a', 'x']);
  for (let i = 0; i < 20; i++) queue.push(item('other'), ['b', 'y']);
  expect(drain(queue, 1)).toEqual(['huge']);
  queue.push(item('again'), ['a', 'x']);
  expect(drain(queue, 20)).toEqual(Array.from({ length: 20 }, () => 'other'));
  expect(drain(queue)).toEqual(['again']);
  queue.push(item('free'), ['a', 'x']);
  expect(drain(queue)).toEqual(['free']);
});

test('a full queue drops the newest of the longest flow, and never what is kept', () => {
  const queue = new FairQueue<Item>(10);
  for (let i = 0; i < 10; i++) expect(queue.push(item(`a${i}`), ['a', 'x'])).toBeNull();
  queue.push(item('end', 0, true), ['a', 'x']);
  expect(queue.push(item('b0'), ['b', 'y'])?.name).toBe('a9');
  expect(queue.push(item('a10'), ['a', 'x'])?.name).toBe('a10');
  expect(queue.size).toBe(11);
  expect(drain(queue)).toHaveLength(11);
});

test('what is taken out is gone from every count', () => {
  const queue = new FairQueue<Item>(3);
  for (const name of ['a', 'b', 'c']) queue.push(item(name), [name, 'x']);
  queue.remove(({ name }) => name !== 'b');
  expect(queue.size).toBe(1);
  const left: string[] = [];
  queue.each(({ name }) => left.push(name));
  expect(left).toEqual(['b']);
  expect(queue.push(item('d'), ['d', 'x'])).toBeNull();
  expect(drain(queue).sort()).toEqual(['b', 'd']);
});
