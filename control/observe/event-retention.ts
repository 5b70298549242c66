/** Removes events that are older than they are kept, and the oldest past the bounds of the disk. */

import type { Clock } from '../../base/clock.ts';
import { observationLimits } from '../limits/observation-limits.ts';
import type { Logger } from '../../base/log.ts';
import type { SiteDays } from '../domain/settings/log-policy.ts';
import type { EventStore } from './event-store.ts';
import type { EventLane } from './events/event-kind.ts';
import type { Cutoffs, LaneRetention } from './events/retention.ts';

const dayMs = 24 * 3600 * 1000;

/** For how many days the events of each lane, and the details of security events, are kept. */
export type RetentionDays = Readonly<Record<EventLane | 'securityDetails', SiteDays>>;

/** Looks at regular times; `close` ends that when nothing is being removed. */
export function startRetention(
  events: Pick<EventStore, 'forget'>,
  days: () => RetentionDays,
  clock: Clock,
  logger: Logger,
): { close(): Promise<void> } {
  let running: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    running = running.then(() => forgetOld(events, days(), clock.nowMs(), logger));
  }, observationLimits.forgetEventsEveryMs).unref();
  return {
    close: async () => {
      clearInterval(timer);
      await running;
    },
  };
}

/** Removes once. Never rejects: a disk that refuses is asked again the next time. */
export async function forgetOld(
  events: Pick<EventStore, 'forget'>,
  days: RetentionDays,
  nowMs: number,
  logger: Logger,
): Promise<void> {
  const since = ({ standard, sites }: SiteDays): Cutoffs => ({
    standardMs: nowMs - standard * dayMs,
    sites: new Map([...sites].map(([site, count]) => [site, nowMs - count * dayMs])),
  });
  const plain = (lane: EventLane): LaneRetention => ({ events: since(days[lane]), details: null });
  try {
    await events.forget({
      security: { events: since(days.security), details: since(days.securityDetails) },
      access: plain('access'),
      access_sample: plain('access_sample'),
      error: plain('error'),
    });
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'unknown';
    logger.error('old events could not be removed', { reason });
  }
}
