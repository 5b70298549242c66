/** Tests that a stream which never ends its work leaves turns to others. */

import { expect, test } from 'vitest';
import { paced } from './paced.ts';

/** Messages that are all there at once. */
async function* ready(count: number): AsyncGenerator<number> {
  for (let index = 0; index < count; index += 1) yield index;
}

test('others get their turn after eight milliseconds of work, and no message is lost', async () => {
  let at = 0;
  const seen: (number | 'rest')[] = [];
  const rest = async (): Promise<void> => {
    seen.push('rest');
    at += 1_000;
  };
  for await (const message of paced(ready(7), { nowMs: () => at, rest })) {
    seen.push(message);
    at += 3;
  }
  expect(seen).toEqual([0, 1, 2, 'rest', 3, 4, 5, 'rest', 6]);
});

test('a rest is a task of its own', async () => {
  const seen: string[] = [];
  setTimeout(() => seen.push('another task'));
  let at = 0;
  const work = async (): Promise<void> => {
    const stream = paced(ready(100));
    const began = performance.now();
    for await (const message of stream) {
      at = message;
      while (message === 0 && performance.now() - began < 20) continue;
      if (seen.length === 0 && message < 99) continue;
      return;
    }
  };
  await work();
  expect(at).toBeLessThan(99);
});
