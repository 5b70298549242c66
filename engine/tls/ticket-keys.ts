/**
 * The keys of session tickets: made at random at every start, replaced at an interval, never kept.
 * All threads get the same, so that a client may resume on any of them.
 */

import { randomBytes } from 'node:crypto';
import { tlsLimits } from '../../base/delivery-limits.ts';
import { ticketKeyBytes } from './secure-contexts.ts';

/** Makes keys and hands them out until it is stopped. */
export class TicketKeys {
  private timer: NodeJS.Timeout | null = null;

  /** Hands out the first keys at once. */
  start(take: (keys: Uint8Array) => void, intervalMs: number = tlsLimits.ticketRotationMs): void {
    const next = (): void => take(new Uint8Array(randomBytes(ticketKeyBytes)));
    next();
    this.timer = setInterval(next, intervalMs).unref();
  }

  stop(): void {
    if (this.timer !== null) clearInterval(this.timer);
    this.timer = null;
  }
}
