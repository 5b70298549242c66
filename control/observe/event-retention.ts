/** Removes events that are older than they are kept, and the oldest past the bounds of the disk. */

import type { Clock } from '../../engine/base/clock.ts';
import { observationLimits } from '../limits/observation-limits.ts';
import type { Logger } from '../../engine/base/log.ts';
import type { EventStore } from './event-store.ts';
import type { EventLane } from './events/event-kind.ts';

const dayMs = 24 * 3600 * 1000;

/** For how many days the events of each lane are kept. */
export type RetentionDays = Readonly<Record<EventLane, number>>;

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
  const since = (lane: EventLane): number => nowMs - days[lane] * dayMs;
  try {
    await events.forget({
      security: since('security'),
      access: since('access'),
      access_sample: since('access_sample'),
      error: since('error'),
    });
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'unknown';
    logger.error('old events could not be removed', { reason });
  }
}
