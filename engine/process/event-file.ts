/**
 * Owns the file that `--events` names: a JSON line for each finished request. A disk that is slow,
 * full or gone costs lines, counted and logged, never the engine or its memory.
 */

import { closeSync, createWriteStream, openSync, type WriteStream } from 'node:fs';
import { AppError } from '../base/errors.ts';
import type { Clock } from '../base/clock.ts';
import { eventFileLimits } from '../base/limits.ts';
import type { Logger } from '../base/log.ts';
import type { RequestEvent } from '../contract/events.ts';

/** Appends to one file. */
export class EventFile {
  private readonly path: string;
  private readonly clock: Clock;
  private readonly log: Logger;
  private stream: WriteStream | null = null;
  private lost = 0;
  private retryAtUs = 0;

  /** Errors: AppError `events_unwritable` where the file cannot be opened now. */
  constructor(path: string, clock: Clock, log: Logger) {
    this.path = path;
    this.clock = clock;
    this.log = log;
    try {
      closeSync(openSync(path, 'a'));
    } catch (cause) {
      const { code = '' } = cause as NodeJS.ErrnoException;
      const message = `--events: the file ${path} cannot be written (${code})`;
      throw new AppError('events_unwritable', message, { source: 'config', cause });
    }
  }

  /** Writes in the background; what finds no room is lost. */
  write(events: readonly RequestEvent[]): void {
    const stream = this.open();
    if (stream === null || stream.writableLength > eventFileLimits.waitingBytesMax) {
      this.lost += events.length;
      return;
    }
    if (this.lost > 0)
      this.log.warn('finished requests are missing in the file of events', {
        lost: this.lost,
      });
    this.lost = 0;
    stream.write(events.map((event) => `${JSON.stringify(event)}\n`).join(''));
  }

  /** Resolves when what was written is with the system, or cannot be. */
  close(): Promise<void> {
    const { stream } = this;
    if (stream === null) return Promise.resolve();
    return new Promise((resolve) => {
      stream.once('close', resolve);
      stream.end();
    });
  }

  private open(): WriteStream | null {
    if (this.stream !== null) return this.stream;
    if (this.clock.monotonicUs() < this.retryAtUs) return null;
    const stream = createWriteStream(this.path, { flags: 'a' });
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (this.stream === stream) this.stream = null;
      this.retryAtUs = this.clock.monotonicUs() + eventFileLimits.retryMs * 1000;
      this.log.error('the file of events cannot be written', { reason: error.code ?? 'unknown' });
    });
    this.stream = stream;
    return stream;
  }
}
