/** Old events go at regular times; a disk that refuses is asked again. */

import { expect, test, vi } from 'vitest';
import { observationLimits } from '../limits/observation-limits.ts';
import { silentLogger } from '../../engine/base/log.ts';
import { startRetention } from './event-retention.ts';
import type { EventStore, KeptSince } from './event-store.ts';

test('each lane is kept for its days, also after a failure', async () => {
  vi.useFakeTimers();
  const asked: KeptSince[] = [];
  const events = {
    forget: (since: KeptSince) => {
      asked.push(since);
      return asked.length === 1 ? Promise.reject(new Error('full')) : Promise.resolve();
    },
  } as unknown as EventStore;
  const dayMs = 86_400_000;
  const clock = { nowMs: () => 1000 * dayMs, monotonicUs: () => 0 };
  const days = { security: 90, access: 7, access_sample: 30, error: 30 };
  const retention = startRetention(events, () => days, clock, silentLogger);
  await vi.advanceTimersByTimeAsync(2 * observationLimits.forgetEventsEveryMs);
  await retention.close();
  vi.useRealTimers();
  expect(asked).toHaveLength(2);
  expect(asked[1]).toEqual({
    security: 910 * dayMs,
    access: 993 * dayMs,
    access_sample: 970 * dayMs,
    error: 970 * dayMs,
  });
});
