/** Tests a target's queue: its bound, what is counted, and that a stuck target holds nobody up. */

import { expect, test } from 'vitest';
import { eventually } from '../../test/support/eventually.ts';
import { siemLimits } from '../limits/siem-limits.ts';
import { Delivery, type DeliveryOptions } from './delivery.ts';
import type { Wire } from './wire.ts';

const clock = { nowMs: () => 5 };

/** A target that takes what it is sent while `takes` resolves. */
function wireThat(send: Wire['send']): Wire & { closed: boolean } {
  const wire = { ended: false, closed: false, send, close: () => void (wire.closed = true) };
  return wire;
}

function deliveryOver(change: Partial<DeliveryOptions>): Delivery {
  return new Delivery({
    queueBytes: 1000,
    together: true,
    open: () => Promise.reject(new Error('nobody')),
    clock,
    pause: () => new Promise((resolve) => setImmediate(resolve)),
    ...change,
  });
}

const message =
  (size: number): (() => Buffer) =>
  () =>
    Buffer.alloc(size, 'x');

test('a stuck target takes no more than its queue; the rest is dropped and counted', async () => {
  let abandon: (error: Error) => void = () => undefined;
  const wire = wireThat(() => new Promise((_, reject) => (abandon = reject)));
  wire.close = () => abandon(new Error('closed'));
  const stuck = deliveryOver({ open: () => Promise.resolve(wire) });
  let made = 0;
  for (let at = 0; at < 1000; at++) {
    stuck.offer(() => {
      made++;
      return Buffer.alloc(100);
    });
  }
  await eventually(() => stuck.stats().pendingItems === 0);
  stuck.offer(message(1));
  expect(stuck.stats()).toMatchObject({
    ...{ attempted: 1001, admitted: 10, written: 0, dropped: 991 },
    ...{ pendingBytes: 1000, byteCapacity: 1000 },
  });
  // What has no room is not even made.
  expect(made).toBe(10);
  await stuck.close();
  expect(stuck.stats()).toMatchObject({ dropped: 1001, written: 0, pendingBytes: 0 });
});

test('once a message found no room, none is made until some have left', async () => {
  let taken: () => void = () => undefined;
  const wire = wireThat(() => new Promise((resolve) => (taken = () => resolve(undefined))));
  const slow = deliveryOver({ open: () => Promise.resolve(wire) });
  let made = 0;
  const offer = (): void =>
    slow.offer(() => {
      made++;
      return Buffer.alloc(300);
    });
  for (let at = 0; at < 100; at++) offer();
  await eventually(() => slow.stats().pendingItems === 0);
  expect([made, slow.stats().admitted]).toEqual([4, 3]);
  taken();
  await eventually(() => slow.stats().written === 3);
  offer();
  expect([made, slow.stats().admitted]).toEqual([5, 4]);
  await eventually(() => slow.stats().pendingItems === 0);
  taken();
  await slow.close();
});

test('a target that is down is asked again, each time later, and gets what waited', async () => {
  const pauses: number[] = [];
  const got: string[] = [];
  let attempts = 0;
  const down = deliveryOver({
    open: () => {
      if (++attempts < 12) return Promise.reject(new Error(`down ${attempts}`));
      return Promise.resolve(
        wireThat((messages) => {
          for (const one of messages) got.push(one.toString());
          return Promise.resolve();
        }),
      );
    },
    pause: (ms) => {
      pauses.push(ms);
      return new Promise((resolve) => setImmediate(resolve));
    },
  });
  for (const text of ['a', 'b', 'c']) down.offer(() => Buffer.from(text));
  await eventually(() => got.length === 3);
  expect(got).toEqual(['a', 'b', 'c']);
  expect(pauses[0]).toBe(siemLimits.retryMinMs);
  expect(pauses[1]).toBe(2 * siemLimits.retryMinMs);
  expect(pauses.at(-1)).toBe(siemLimits.retryMaxMs);
  await eventually(() => down.stats().written === 3);
  expect(down.stats()).toMatchObject({ retried: 11, dropped: 0, lastError: '', lastErrorMs: 5 });
  await down.close();
});

test('what a connection loses is counted, what waits after it is sent on the next', async () => {
  const got: string[] = [];
  let opened = 0;
  const flaky = deliveryOver({
    together: false,
    open: () => {
      const first = ++opened === 1;
      return Promise.resolve(
        wireThat((messages) => {
          if (first) return Promise.reject(new Error('reset'));
          got.push(String(messages[0]));
          return Promise.resolve();
        }),
      );
    },
  });
  for (const text of ['lost', 'a', 'b']) flaky.offer(() => Buffer.from(text));
  await eventually(() => flaky.stats().written === 2);
  expect(got).toEqual(['a', 'b']);
  expect(flaky.stats()).toMatchObject({ attempted: 3, admitted: 3, written: 2, dropped: 1 });
  await flaky.close();
});

test('writes are bounded, in order and whole; every message is in one of the counts', async () => {
  const sizes: number[] = [];
  const many = deliveryOver({
    queueBytes: 64 * 1024 * 1024,
    open: () =>
      Promise.resolve(
        wireThat((messages) => {
          sizes.push(messages.reduce((sum, one) => sum + one.length, 0));
          return Promise.resolve();
        }),
      ),
  });
  for (let at = 0; at < 3000; at++) many.offer(message(1000));
  many.offer(message(3 * siemLimits.writeBytesMax));
  many.offer(() => {
    throw new Error('no form');
  });
  await eventually(() => many.stats().written === 3001);
  const large = sizes.filter((size) => size > siemLimits.writeBytesMax);
  expect(large).toEqual([3 * siemLimits.writeBytesMax]);
  expect(sizes.length).toBeLessThan(60);
  expect(many.stats()).toMatchObject({ attempted: 3002, dropped: 1, pendingBytes: 0 });
  await many.close();
});
