/**
 * Logs why inspection failed inside the product, with the stack: each place once, later with a
 * count, so that an attacker who finds one cannot fill the disk.
 */

import type { Clock } from '../../base/clock.ts';
import { failureLogLimits } from '../../base/rule-limits.ts';
import type { Logger } from '../../base/log.ts';

interface Place {
  loggedMs: number;
  /** Since then. */
  again: number;
}

/** The failures of one thread. */
export class FailureLog {
  private readonly log: Logger;
  private readonly clock: Clock;
  /** By stack. */
  private readonly places = new Map<string, Place>();

  constructor(log: Logger, clock: Clock) {
    this.log = log;
    this.clock = clock;
  }

  /** Takes what was thrown; logs its stack unless it did so shortly before. */
  report(thrown: unknown): void {
    const text = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
    const stack = text.slice(0, failureLogLimits.stackCharactersMax);
    const { frames, nowMs } = { frames: framesOf(stack), nowMs: this.clock.nowMs() };
    const known = this.places.get(frames);
    if (known !== undefined && nowMs - known.loggedMs < failureLogLimits.repeatMs) {
      known.again++;
      return;
    }
    if (known === undefined && this.places.size >= failureLogLimits.placesMax) this.places.clear();
    this.places.set(frames, { loggedMs: nowMs, again: 0 });
    this.log.error('inspection failed inside the product; please report this stack', {
      stack,
      again: known?.again ?? 0,
    });
  }
}

/** The place in the code, without a message that may differ each time. */
function framesOf(stack: string): string {
  const first = stack.indexOf('\n    at ');
  return first < 0 ? stack : stack.slice(first);
}
