/** Tests the restart delays. */

import { expect, test } from 'vitest';
import { initialBackOff, nextBackOff } from './back-off.ts';

test('delays double from 250 ms and stop at ten seconds', () => {
  const delays: number[] = [];
  let state = initialBackOff;
  for (let index = 0; index < 8; index++) {
    const next = nextBackOff(state, 1000);
    delays.push(next.delayMs);
    state = next.state;
  }
  expect(delays).toEqual([250, 500, 1000, 2000, 4000, 8000, 10_000, 10_000]);
});

test('a child that lived half a minute starts again at once, and then with the first delay', () => {
  const { delayMs, state } = nextBackOff({ failures: 7 }, 30_000);
  expect(delayMs).toBe(0);
  expect(nextBackOff(state, 1_000).delayMs).toBe(250);
});
