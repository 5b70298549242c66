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

test('a child that lived half a minute begins again with the first delay', () => {
  const { delayMs } = nextBackOff({ failures: 7 }, 30_000);
  expect(delayMs).toBe(250);
});
