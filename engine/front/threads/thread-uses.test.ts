/** Questions of a thread about used challenges: answered, given up in time, bounded. */

import { afterEach, expect, test, vi } from 'vitest';
import { rateExchangeLimits } from '../../../base/guard-limits.ts';
import type { UseQuestion } from './thread-messages.ts';
import { ThreadUses } from './thread-uses.ts';

const { usesWaiting, useWaitMs } = rateExchangeLimits;
afterEach(() => vi.useRealTimers());

test('each gets its own answer', async () => {
  const sent: UseQuestion[] = [];
  const uses = new ThreadUses((question) => sent.push(question));
  const answers = [uses.use('a', 60), uses.use('b', 60)];
  expect(sent.map(({ challenge, seconds }) => [challenge, seconds])).toEqual([
    ['a', 60],
    ['b', 60],
  ]);
  uses.settle(sent[1]!.id, 'again');
  uses.settle(sent[0]!.id, 'first');
  uses.settle(sent[0]!.id, 'again');
  expect(await Promise.all(answers)).toEqual(['first', 'again']);
});

test('one that nobody answers is given up, and so are those past the bound', async () => {
  vi.useFakeTimers();
  const uses = new ThreadUses(() => undefined);
  const first = uses.use('a', 60);
  for (let i = 1; i < usesWaiting; i++) void uses.use(String(i), 60);
  expect(await uses.use('past', 60)).toBe('alone');
  vi.advanceTimersByTime(useWaitMs);
  expect(await first).toBe('alone');
  const next = uses.use('next', 60);
  uses.settle(usesWaiting, 'first');
  expect(await next).toBe('first');
});
