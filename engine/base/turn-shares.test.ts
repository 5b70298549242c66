/** Tests of turn shares: who may work in a turn of the event loop, and who waits. */

import { setImmediate as turnEnd } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { turnLimits } from '../../base/delivery-limits.ts';
import { TurnShare } from './turn-shares.ts';

const { messageCost, messageShareMax, messageCostMax } = turnLimits;

/** A client that has `left` messages of the usual cost and does each as soon as it may. */
function client(left: number): { readonly done: () => number; readonly share: TurnShare } {
  let done = 0;
  const go = (): void => {
    while (left - done > 0 && share.take(messageCost)) done++;
  };
  const share = new TurnShare(() => {
    done++;
    go();
  });
  go();
  return { done: () => done, share };
}

test('a client stops at its share of a turn, and continues in the next', async () => {
  await turnEnd();
  const alone = client(100);
  const share = messageShareMax / messageCost;
  expect(alone.done()).toBe(share);
  await turnEnd();
  expect(alone.done()).toBe(2 * share);
  alone.share.end();
});

test('work that was waited for counts: many in line do not fill one turn', async () => {
  await turnEnd();
  const ofATurn = messageCostMax / messageCost;
  const clients = Array.from({ length: ofATurn * 5 }, () => client(1));
  const done = (): number => clients.reduce((sum, one) => sum + one.done(), 0);
  for (let turn = 1; turn <= 5; turn++) {
    expect(done()).toBe(ofATurn * turn);
    await turnEnd();
  }
});

test('who ended is not called any more', async () => {
  await turnEnd();
  const one = client(100);
  const before = one.done();
  one.share.end();
  await turnEnd();
  await turnEnd();
  expect(one.done()).toBe(before);
});
