/**
 * The coarse timer of a thread: one interval looks at every registered deadline, so that setting
 * one costs a field store and no timer is made per request.
 */

import type { Clock } from '../../base/clock.ts';
import { Places } from './places.ts';

/** Something with a deadline; `Infinity` means none. */
export interface DeadlineHolder {
  /** In the time of `Deadlines.nowMs`. */
  deadlineMs: number;
  /** Kept by `Deadlines`; begins with -1. */
  deadlinePlace: number;
  /** Called once the deadline has passed; sets the next one. */
  onDeadline(nowMs: number): void;
}

/**
 * Deadlines of one thread. Cost of a sweep: one comparison per holder.
 *
 * Their time stops while the thread stands still: sockets that became ready meanwhile are read
 * after the sweep, so a deadline that passed in such a pause says nothing about the other side.
 */
export class Deadlines {
  /** Milliseconds of running time at the last sweep; as coarse as the interval. */
  nowMs: number;
  private sweptMs: number;
  private readonly stepMsMax: number;
  private readonly clock: Clock;
  private readonly holders = new Places<DeadlineHolder>();
  private readonly timer: NodeJS.Timeout;

  constructor(clock: Clock, intervalMs: number) {
    this.clock = clock;
    this.nowMs = clock.monotonicUs() / 1000;
    this.sweptMs = this.nowMs;
    this.stepMsMax = 2 * intervalMs;
    this.timer = setInterval(() => this.sweep(), intervalMs);
    this.timer.unref();
  }

  /** Does nothing for one that is here already. */
  add(holder: DeadlineHolder): void {
    if (this.holders.has(holder.deadlinePlace, holder)) return;
    holder.deadlinePlace = this.holders.add(holder);
  }

  remove(holder: DeadlineHolder): void {
    this.holders.remove(holder.deadlinePlace, holder);
  }

  /** Looks at all deadlines; the interval does it, tests may. */
  sweep(): void {
    const clockMs = this.clock.monotonicUs() / 1000;
    this.nowMs += Math.min(clockMs - this.sweptMs, this.stepMsMax);
    this.sweptMs = clockMs;
    const now = this.nowMs;
    for (const holder of this.holders) {
      if (holder.deadlineMs > now) continue;
      holder.deadlineMs = Infinity;
      holder.onDeadline(now);
    }
  }

  close(): void {
    clearInterval(this.timer);
    this.holders.clear();
  }
}
