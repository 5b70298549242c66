/**
 * Log records or spans on their way to a collector: a bounded queue that takes without waiting.
 * What has no room, and what the collector refuses, is dropped and counted.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { withinTime } from '../../../base/time-limit.ts';
import { otlpLimits } from '../../limits/otlp-limits.ts';
import type { PostResult } from './otlp-post.ts';
import type { OtlpQueue } from './otlp-settings.ts';
import type { OtlpRecord } from './otlp-values.ts';

/** What became of records since control began. */
export interface OtlpQueueStats {
  readonly attempted: number;
  readonly admitted: number;
  /** Those that the collector took. */
  readonly written: number;
  readonly dropped: number;
  /** Requests that are to be sent again. */
  readonly retried: number;
  readonly pendingItems: number;
  readonly pendingBytes: number;
  /** Empty after a success. */
  readonly lastError: string;
}

/** What became of records, by signal. */
export type OtlpStats = readonly (OtlpQueueStats & { readonly signal: 'logs' | 'traces' })[];

/** What an exporter works with. */
export interface RecordExporterOptions extends OtlpQueue {
  /** Sends records. Never rejects. */
  readonly send: (records: readonly OtlpRecord[], ending: AbortSignal) => Promise<PostResult>;
  /** Is called when the collector begins to fail, and when it takes records again. */
  readonly onState: (problem: string) => void;
}

interface Waiting {
  readonly record: OtlpRecord;
  readonly bytes: number;
}

/** The queue and its way out. */
export class RecordExporter {
  private readonly options: RecordExporterOptions;
  private readonly ending = new AbortController();
  private queue: Waiting[] = [];
  private bytes = 0;
  private running: Promise<void> | null = null;
  private readonly counts = { attempted: 0, admitted: 0, written: 0, dropped: 0, retried: 0 };
  private lastError = '';

  constructor(options: RecordExporterOptions) {
    this.options = options;
  }

  /** Takes what `make` gives, where there is room; it is not asked where there is none. */
  offer(make: () => OtlpRecord, bytes: number): void {
    this.counts.attempted++;
    const full =
      this.queue.length >= this.options.queueRecords ||
      this.bytes + bytes > otlpLimits.queueBytesMax;
    if (full || this.ending.signal.aborted) {
      this.counts.dropped++;
      return;
    }
    this.counts.admitted++;
    this.queue.push({ record: make(), bytes });
    this.bytes += bytes;
    this.running ??= this.run();
  }

  stats(): OtlpQueueStats {
    const { counts, queue, bytes, lastError } = this;
    return { ...counts, pendingItems: queue.length, pendingBytes: bytes, lastError };
  }

  /** Sends what waits to a collector that takes it, for a short time, then drops the rest. */
  async close(): Promise<void> {
    const { running } = this;
    this.ending.abort();
    await running;
    await withinTime(otlpLimits.flushMs, [], async (late) => {
      while (this.queue.length > 0 && this.lastError === '' && !late.aborted) {
        const batch = this.nextBatch();
        this.note(batch, await this.options.send(recordsOf(batch), late));
      }
    });
    this.counts.dropped += this.queue.length;
    this.queue = [];
    this.bytes = 0;
  }

  private async run(): Promise<void> {
    let failures = 0;
    await this.pause(this.options.scheduleDelayMs);
    while (this.queue.length > 0 && !this.ending.signal.aborted) {
      const batch = this.nextBatch();
      const result = await this.options.send(recordsOf(batch), this.ending.signal);
      if (this.ending.signal.aborted) break;
      this.note(batch, result);
      if (result.state !== 'busy') {
        failures = 0;
        continue;
      }
      const { retryMinMs, retryMaxMs } = otlpLimits;
      const wait = Math.max(result.waitMs, retryMinMs * 2 ** Math.min(failures++, 16));
      await this.pause(Math.min(retryMaxMs, wait));
    }
    // In the turn in which the queue was found empty: what comes next starts anew.
    this.running = null;
  }

  /** The first records: not more than fit into one request, but one at least. */
  private nextBatch(): Waiting[] {
    let bytes = 0;
    const end = this.queue.findIndex((one, at) => {
      bytes += one.bytes;
      return at >= this.options.batchRecords || (at > 0 && bytes > otlpLimits.batchBytesMax);
    });
    return this.queue.slice(0, end < 0 ? this.queue.length : end);
  }

  /** What became of the records at the front of the queue. */
  private note(batch: readonly Waiting[], result: PostResult): void {
    const problem = result.state === 'taken' ? '' : result.problem;
    if (problem !== this.lastError) this.options.onState(problem);
    this.lastError = problem;
    if (result.state === 'busy') {
      this.counts.retried++;
      return;
    }
    this.queue = this.queue.slice(batch.length);
    this.bytes -= batch.reduce((sum, { bytes }) => sum + bytes, 0);
    const lost = result.state === 'taken' ? Math.min(result.rejected, batch.length) : batch.length;
    this.counts.dropped += lost;
    this.counts.written += batch.length - lost;
  }

  private async pause(ms: number): Promise<void> {
    // An abort is the early end of a pause.
    await sleep(ms, undefined, { signal: this.ending.signal, ref: false }).catch(() => undefined);
  }
}

function recordsOf(batch: readonly Waiting[]): OtlpRecord[] {
  return batch.map(({ record }) => record);
}
