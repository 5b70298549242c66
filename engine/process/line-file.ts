/**
 * Appends lines to a file, or to standard output, in the background. A disk that is slow, full or
 * gone costs lines, counted and logged, never the engine or its memory.
 */

import { closeSync, createWriteStream, fstatSync, openSync, renameSync } from 'node:fs';
import type { WriteStream } from 'node:fs';
import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import { eventFileLimits } from '../base/observation-limits.ts';
import type { Logger } from '../../base/log.ts';

/** Which file, and what it is called in messages. */
export interface LineFileOptions {
  /** Flag that named the file. */
  readonly flag: string;
  /** As in "the access log". */
  readonly name: string;
  /** `-` is standard output. */
  readonly path: string;
  /** A file that grew past it is set aside as `.1`, older ones as `.2` and so on; 0 never. */
  readonly rotateBytes?: number;
  /** Files set aside at most. */
  readonly keep?: number;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Appends to one file. */
export class LineFile {
  private readonly options: LineFileOptions;
  private stream: WriteStream | null = null;
  private closing: Promise<void> = Promise.resolve();
  private size = 0;
  private waitingBytes = 0;
  private missing = 0;
  private retryAtUs = 0;
  /** Lines that were lost since the start. */
  lost = 0;

  /** Errors: AppError `file_unwritable` where the file cannot be opened now. */
  constructor(options: LineFileOptions) {
    this.options = options;
    const { flag, path } = options;
    if (path === '-') return;
    try {
      closeSync(openSync(path, 'a', fileMode));
    } catch (cause) {
      const { code = '' } = cause as NodeJS.ErrnoException;
      const message = `${flag}: the file ${path} cannot be written (${code})`;
      throw new AppError('file_unwritable', message, { source: 'config', cause });
    }
  }

  /** Writes whole lines in the background; what finds no room is lost. */
  write(text: string, lines: number): void {
    if (lines === 0) return;
    const bytes = Buffer.from(text, 'utf8');
    const full = this.waitingBytes + bytes.length > eventFileLimits.waitingBytesMax;
    const stream = full ? null : this.open();
    if (stream === null) return this.lose(lines);
    this.waitingBytes += bytes.length;
    this.size += bytes.length;
    stream.write(bytes, (error) => {
      this.waitingBytes -= bytes.length;
      if (error) this.lose(lines);
      else this.reportMissing();
    });
    const { rotateBytes = 0, path } = this.options;
    if (rotateBytes > 0 && this.size >= rotateBytes && path !== '-') this.rotate();
  }

  /** Continues in a new file of the same name: somebody has moved the old one away. */
  reopen(): void {
    if (this.stream !== null && this.options.path !== '-') this.end(this.stream);
    this.retryAtUs = 0;
  }

  /** Resolves when what was written is with the system, or cannot be. */
  async close(): Promise<void> {
    if (this.stream !== null) this.end(this.stream);
    await this.closing;
  }

  private end(stream: WriteStream): void {
    this.stream = null;
    const before = this.closing;
    const ended = new Promise<void>((resolve) => {
      stream.once('close', resolve);
      stream.end();
    });
    this.closing = before.then(() => ended);
  }

  private lose(lines: number): void {
    this.missing += lines;
    this.lost += lines;
  }

  private reportMissing(): void {
    if (this.missing === 0) return;
    const { name, log } = this.options;
    log.warn(`lines are missing in ${name}`, { lost: this.missing });
    this.missing = 0;
  }

  private rotate(): void {
    const { path, keep = 1, name, log } = this.options;
    try {
      for (let at = keep; at > 0; at--)
        moveIfThere(at === 1 ? path : `${path}.${at - 1}`, path, at);
    } catch (thrown) {
      // It grows on, and the next attempt comes after as many bytes again.
      log.warn(`${name} cannot be rotated`, { reason: reasonOf(thrown) });
      this.size = 0;
      return;
    }
    this.reopen();
  }

  private open(): WriteStream | null {
    if (this.stream !== null) return this.stream;
    const { clock, path, name, log } = this.options;
    if (clock.monotonicUs() < this.retryAtUs) return null;
    const failed = (error: unknown): null => {
      this.retryAtUs = clock.monotonicUs() + eventFileLimits.retryMs * 1000;
      log.error(`${name} cannot be written`, { reason: reasonOf(error) });
      return null;
    };
    const stdout = path === '-';
    let fd: number;
    try {
      fd = stdout ? 1 : openSync(path, 'a', fileMode);
      this.size = stdout ? 0 : fstatSync(fd).size;
    } catch (error) {
      return failed(error);
    }
    // A stream of its own also for standard output: writing to `process.stdout` can block.
    const stream = createWriteStream(path, { fd, autoClose: !stdout });
    stream.on('error', (error) => {
      if (this.stream === stream) this.stream = null;
      failed(error);
    });
    this.stream = stream;
    return stream;
  }
}

/** Lines hold addresses of clients: only the product's own user and group read them. */
const fileMode = 0o640;

function moveIfThere(from: string, path: string, at: number): void {
  try {
    renameSync(from, `${path}.${at}`);
  } catch (error) {
    if (reasonOf(error) !== 'ENOENT') throw error;
  }
}

function reasonOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'unknown';
}
