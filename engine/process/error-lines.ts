/**
 * A line in the log for requests that failed: origins, refusals, our own faults. A flood of them
 * costs a few lines and a count.
 */

import type { Clock } from '../../base/clock.ts';
import { errorLineLimits } from '../base/observation-limits.ts';
import type { Logger } from '../../base/log.ts';
import type { RequestEvent } from '../contract/events.ts';
import { errorOf, type RequestError } from '../contract/request-error.ts';

/** Writes them, a bounded number in a period. */
export class ErrorLines {
  private readonly clock: Clock;
  private readonly log: Logger;
  private periodEndsUs = 0;
  private written = 0;
  private skipped = 0;

  constructor(clock: Clock, log: Logger) {
    this.clock = clock;
    this.log = log;
  }

  /** Writes those among finished requests that failed. Refusals are logged at level `info`. */
  write(events: readonly RequestEvent[]): void {
    for (const event of events) {
      const error = errorOf(event);
      if (error !== null && this.mayWrite()) this.writeOne(event, error);
    }
  }

  private writeOne(event: RequestEvent, { logger, level, reason }: RequestError): void {
    const { requestId, siteId, clientIp, status, endpoint } = event;
    const facts = { part: logger, reason, requestId, siteId, clientIp, status };
    const fields = endpoint === null ? facts : { ...facts, endpoint };
    if (level === 'error') this.log.warn('a request failed', fields);
    else this.log.info('a request was refused, or not inspected whole', fields);
  }

  private mayWrite(): boolean {
    const nowUs = this.clock.monotonicUs();
    if (nowUs >= this.periodEndsUs) {
      const { skipped } = this;
      this.periodEndsUs = nowUs + errorLineLimits.periodMs * 1000;
      this.written = 0;
      this.skipped = 0;
      if (skipped > 0) {
        this.log.warn('more requests failed than are written here; see waf log errors', {
          skipped,
        });
      }
    }
    if (this.written++ < errorLineLimits.linesMax) return true;
    this.skipped++;
    return false;
  }
}
