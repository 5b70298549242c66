/** The waits of links: longer with each failure, and spread over nodes that fail together. */

import { expect, test } from 'vitest';
import { linkLimits } from '../base/observation-limits.ts';
import { seededRandom } from '../../test/support/random.ts';
import { ReconnectWait } from './reconnect-wait.ts';

const { reconnectMinMs, reconnectMaxMs, reconnectSpreadMs } = linkLimits;
const livedMs = reconnectMaxMs + 1;

test('waits double with each failure up to a bound, and begin anew after a stream that lived', () => {
  const wait = new ReconnectWait(0, () => 1);
  const waits = Array.from({ length: 8 }, () => wait.next(0));
  expect(waits).toEqual([200, 400, 800, 1_600, 3_200, 5_000, 5_000, 5_000]);
  expect(wait.next(livedMs)).toBe(reconnectMinMs);
  expect(wait.next(0)).toBe(2 * reconnectMinMs);
});

test('nodes that lose their controller together come back spread over the whole time', () => {
  const random = seededRandom(7);
  const tenths = new Array<number>(10).fill(0);
  for (let node = 0; node < 1_000; node++) {
    const ms = new ReconnectWait(reconnectSpreadMs, random).next(livedMs);
    const tenth = Math.floor((ms / (reconnectSpreadMs + reconnectMinMs)) * 10);
    tenths[tenth] = tenths[tenth]! + 1;
  }
  expect(Math.min(...tenths)).toBeGreaterThan(50);
  expect(Math.max(...tenths)).toBeLessThan(200);
});

test('the node of the controller itself is back at once', () => {
  expect(new ReconnectWait(0, () => 1).next(livedMs)).toBeLessThanOrEqual(reconnectMinMs);
});
