/** Old events go at regular times; a disk that refuses is asked again. */

import { expect, test, vi } from 'vitest';
import { observationLimits } from '../limits/observation-limits.ts';
import { silentLogger } from '../../base/log.ts';
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
  const plain = (standard: number) => ({ standard, sites: new Map<string, number>() });
  const days = {
    security: plain(90),
    securityDetails: { standard: 7, sites: new Map([['short', 1]]) },
    access: plain(7),
    access_sample: plain(30),
    error: plain(30),
  };
  const retention = startRetention(events, () => days, clock, silentLogger);
  await vi.advanceTimersByTimeAsync(2 * observationLimits.forgetEventsEveryMs);
  await retention.close();
  vi.useRealTimers();
  expect(asked).toHaveLength(2);
  const since = (day: number, ...sites: [string, number][]) => {
    return { standardMs: day * dayMs, sites: new Map(sites) };
  };
  expect(asked[1]).toEqual({
    security: { events: since(910), details: since(993, ['short', 999 * dayMs]) },
    access: { events: since(993), details: null },
    access_sample: { events: since(970), details: null },
    error: { events: since(970), details: null },
  });
});
