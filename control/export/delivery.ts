/**
 * One target's queue and its way out. Takes messages without waiting; what does not fit, and what a
 * connection loses, is dropped and counted, here and for this target only.
 */

import type { Clock } from '../../base/clock.ts';
import { toAppError } from '../../base/errors.ts';
import { siemLimits } from '../limits/siem-limits.ts';
import type { Wire } from './wire.ts';

/** What became of a target's messages since control began. */
export interface DeliveryStats {
  /** Messages for the target. */
  readonly attempted: number;
  /** Those that had room. */
  readonly admitted: number;
  /** Those that the system took for the target. Syslog has no acknowledgement. */
  readonly written: number;
  /** Those without room, and those that a connection lost. */
  readonly dropped: number;
  /** Attempts to reach the target that failed. */
  readonly retried: number;
  readonly pendingItems: number;
  readonly pendingBytes: number;
  readonly byteCapacity: number;
  /** Milliseconds since the Unix epoch; 0 for never. */
  readonly lastSuccessMs: number;
  readonly lastErrorMs: number;
  /** Empty after a success. */
  readonly lastError: string;
}

/** What a delivery works with. */
export interface DeliveryOptions {
  readonly queueBytes: number;
  /** Messages that leave together: one for datagrams. */
  readonly together: boolean;
  /** Rejects with what an operator reads. */
  readonly open: (signal: AbortSignal) => Promise<Wire>;
  readonly clock: Pick<Clock, 'nowMs'>;
  /** Resolves after a time, or early when `signal` aborts. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** Messages on their way to one target. */
export class Delivery {
  private readonly options: DeliveryOptions;
  private readonly ending = new AbortController();
  private queue: Buffer[] = [];
  /** How many at the front of `queue` are gone. */
  private taken = 0;
  private bytes = 0;
  /** A message found no room, and none was made since. */
  private full = false;
  private wire: Wire | null = null;
  private wake: (() => void) | null = null;
  private readonly running: Promise<void>;
  private readonly counts = { attempted: 0, admitted: 0, written: 0, dropped: 0, retried: 0 };
  private readonly times = { lastSuccessMs: 0, lastErrorMs: 0, lastError: '' };

  constructor(options: DeliveryOptions) {
    this.options = options;
    this.running = this.run();
  }

  /** Takes what `make` gives, where there is room; it is not asked where there is none. */
  offer(make: () => Buffer): void {
    this.counts.attempted++;
    const full = this.full || this.bytes >= this.options.queueBytes;
    if (this.ending.signal.aborted || full) return this.drop(1);
    let message: Buffer;
    try {
      message = make();
    } catch {
      this.note('an event has no form: it holds what no program of ours writes');
      return this.drop(1);
    }
    if (this.bytes + message.length > this.options.queueBytes) {
      // To make a message costs more than to queue it: none is made until some have left.
      this.full = this.bytes > 0;
      return this.drop(1);
    }
    this.counts.admitted++;
    this.queue.push(message);
    this.bytes += message.length;
    this.wake?.();
  }

  stats(): DeliveryStats {
    return {
      ...this.counts,
      ...this.times,
      pendingItems: this.queue.length - this.taken,
      pendingBytes: this.bytes,
      byteCapacity: this.options.queueBytes,
    };
  }

  /** Waits a moment for what waits to leave, then drops the rest. */
  async close(): Promise<void> {
    const timer = setTimeout(() => this.ending.abort(), siemLimits.closeWaitMs);
    while (this.bytes > 0 && !this.ending.signal.aborted) {
      await this.options.pause(10, this.ending.signal);
    }
    clearTimeout(timer);
    this.ending.abort();
    this.wake?.();
    // A write that is stuck ends with its connection.
    this.wire?.close();
    await this.running;
    this.drop(this.queue.length - this.taken);
    this.queue = [];
    this.taken = 0;
    this.bytes = 0;
  }

  private drop(messages: number): void {
    this.counts.dropped += messages;
  }

  private async run(): Promise<void> {
    let failures = 0;
    while (!this.ending.signal.aborted) {
      if (this.taken === this.queue.length) {
        await this.nextMessage();
        continue;
      }
      try {
        const wire = await this.openWire();
        if (await this.sendSome(wire)) failures = 0;
      } catch (error) {
        this.note(toAppError(error).message);
        this.counts.retried++;
        this.wire?.close();
        this.wire = null;
        const { retryMinMs, retryMaxMs } = siemLimits;
        const wait = Math.min(retryMaxMs, retryMinMs * 2 ** Math.min(failures++, 16));
        await this.options.pause(wait, this.ending.signal);
      }
    }
    this.wire?.close();
  }

  private nextMessage(): Promise<void> {
    return new Promise((resolve) => {
      this.wake = () => {
        this.wake = null;
        resolve();
      };
      if (this.ending.signal.aborted) this.wake();
    });
  }

  private async openWire(): Promise<Wire> {
    if (this.wire?.ended === true) this.wire.close();
    if (this.wire === null || this.wire.ended) {
      this.wire = await this.options.open(this.ending.signal);
    }
    return this.wire;
  }

  /** Sends what fits into one write. Rejects where it is lost; it is counted then. */
  private async sendSome(wire: Wire): Promise<boolean> {
    const some: Buffer[] = [];
    let size = 0;
    const countMax = this.options.together ? Infinity : 1;
    while (this.taken + some.length < this.queue.length && some.length < countMax) {
      const next = this.queue[this.taken + some.length]!;
      if (some.length > 0 && size + next.length > siemLimits.writeBytesMax) break;
      some.push(next);
      size += next.length;
    }
    this.release(some.length);
    try {
      await wire.send(some);
    } catch (error) {
      this.drop(some.length);
      throw error;
    } finally {
      this.bytes -= size;
      this.full = false;
    }
    this.counts.written += some.length;
    this.times.lastSuccessMs = this.options.clock.nowMs();
    this.times.lastError = '';
    return true;
  }

  /** What was taken leaves the list in large steps: moving it each time would cost the square. */
  private release(messages: number): void {
    this.taken += messages;
    if (this.taken === this.queue.length) {
      this.queue = [];
      this.taken = 0;
    } else if (this.taken > this.queue.length / 2) {
      this.queue = this.queue.slice(this.taken);
      this.taken = 0;
    }
  }

  private note(error: string): void {
    this.times.lastErrorMs = this.options.clock.nowMs();
    this.times.lastError = error;
  }
}
