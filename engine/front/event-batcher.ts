/**
 * Owns the batches in which a front thread hands finished requests over; never blocks a request.
 */

import { frontLimits } from '../base/limits.ts';
import type { RequestEvent } from '../contract/events.ts';
import { packEvents, type EventBatch } from './event-wire.ts';

/** Batches that may be on their way before the receiver has taken one. */
const IN_FLIGHT_MAX = 8;

/**
 * Gathers events; sends when a batch is full or old enough, and waits while the receiver is busy.
 */
export class EventBatcher {
  private readonly send: (batch: EventBatch) => void;
  private queue: RequestEvent[] = [];
  private dropped = 0;
  private inFlight = 0;
  private timer: NodeJS.Timeout | null = null;

  constructor(send: (batch: EventBatch) => void) {
    this.send = send;
  }

  /** Takes an event; past the queue's bound it is dropped and counted: false. */
  add(event: RequestEvent): boolean {
    if (this.queue.length >= frontLimits.eventQueueMax) {
      this.dropped++;
      return false;
    }
    this.queue.push(event);
    if (this.queue.length >= frontLimits.eventBatchMax) this.flush();
    else this.timer ??= setTimeout(() => this.flush(), frontLimits.eventBatchDelayMs);
    return true;
  }

  /** The receiver has taken a batch. */
  taken(): void {
    this.inFlight--;
    if (this.queue.length > 0 && this.timer === null) this.flush();
  }

  /** Sends what there is, as far as the receiver keeps up; `all` sends the rest whatever. */
  flush(all = false): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    while (this.queue.length > 0 && (all || this.inFlight < IN_FLIGHT_MAX)) {
      const batch = packEvents(this.queue.splice(0, frontLimits.eventBatchMax), this.dropped);
      this.dropped = 0;
      this.inFlight++;
      this.send(batch);
    }
  }
}
