/** Time limits of work: they hold although garbage is collected meanwhile. */

import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { collectGarbage } from './garbage.ts';
import { joinSignals, startTimeLimit, withinTime } from './time-limit.ts';

/** Work that ends by its signal alone. */
function untilAborted(signal: AbortSignal): Promise<string> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve((signal.reason as Error).name), { once: true });
  });
}

test('the time ends although nobody but the work holds the limit', async () => {
  const other = new AbortController();
  const work = withinTime(80, [other.signal], untilAborted);
  for (let at = 0; at < 4; at++) {
    collectGarbage();
    await sleep(1);
  }
  expect(await work).toBe('TimeoutError');
});

test('another signal ends it, with its reason', async () => {
  const other = new AbortController();
  const work = withinTime(60_000, [undefined, other.signal], untilAborted);
  other.abort(new RangeError('gone'));
  expect(await work).toBe('RangeError');
});

test('one that is aborted already ends it at once', () => {
  const { signal, end } = startTimeLimit(60_000, AbortSignal.abort(new RangeError('gone')));
  end();
  expect(signal.aborted).toBe(true);
  expect(signal.reason).toBeInstanceOf(RangeError);
});

test('work that is done is not aborted later', async () => {
  const other = new AbortController();
  let seen: AbortSignal | null = null;
  const result = await withinTime(20, [other.signal], (signal) => {
    seen = signal;
    return Promise.resolve('done');
  });
  other.abort();
  await sleep(60);
  expect(result).toBe('done');
  expect(seen).toMatchObject({ aborted: false });
});

test('joined signals abort with the first, or by themselves', () => {
  const [one, two] = [new AbortController(), new AbortController()];
  const joined = joinSignals(one.signal, two.signal);
  two.abort('two');
  one.abort('one');
  expect(joined.signal.reason).toBe('two');
  const own = joinSignals(one.signal, undefined);
  expect(own.signal.aborted).toBe(true);
  const free = joinSignals();
  free.abort('own');
  expect(free.signal.reason).toBe('own');
});
