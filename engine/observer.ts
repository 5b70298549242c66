/**
 * Owns the way from finished requests to the main thread: counts every one, keeps those that have
 * something to tell, and hands both over in batches. A full buffer drops events, counted, never
 * requests.
 */

import { observerLimits } from './base/limits.ts';
import type { RequestEvent } from './contract/events.ts';
import { Counters } from './ops/counters.ts';
import type { FromThread } from './thread-messages.ts';

export class Observer {
  private readonly counters = new Counters();
  private events: RequestEvent[] = [];
  private dropped = 0;
  private readonly allEvents: boolean;
  private readonly post: (message: FromThread) => void;
  private readonly timer: NodeJS.Timeout;

  constructor(allEvents: boolean, post: (message: FromThread) => void) {
    this.allEvents = allEvents;
    this.post = post;
    this.timer = setInterval(() => this.flush(), observerLimits.flushIntervalMs);
    this.timer.unref();
  }

  /** Takes one finished request; never throws, never waits. */
  readonly done = (event: RequestEvent): void => {
    this.counters.add(event);
    if (!this.allEvents && !isNotable(event)) return;
    if (this.events.length >= observerLimits.bufferedEventsMax) this.dropped++;
    else this.events.push(event);
    if (this.events.length === observerLimits.batchEvents) setImmediate(() => this.flush());
  };

  /** Hands over what is there. */
  flush(): void {
    const counters = this.counters.take();
    if (counters === null && this.events.length === 0 && this.dropped === 0) return;
    this.post({ type: 'observed', events: this.events, counters, dropped: this.dropped });
    this.events = [];
    this.dropped = 0;
  }

  close(): void {
    clearInterval(this.timer);
    this.flush();
  }
}

/** Requests that become security or error events: a rule matched, or we or the origin failed. */
function isNotable({ transaction, outcome }: RequestEvent): boolean {
  if (transaction !== null && (transaction.matchedRules.length > 0 || transaction.failure)) return true;
  return outcome !== 'served' && outcome !== 'client_abort' && outcome !== 'unrouted';
}
