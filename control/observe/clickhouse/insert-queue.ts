/**
 * The way of rows into one table: what comes within a moment is one insert, one insert at a time.
 * Nothing is dropped here: what does not fit, or fails, is refused, and its node keeps it. Batches
 * of a node come in order, so what waits after a failed insert is refused, too.
 */

import { AppError, toAppError } from '../../../base/errors.ts';
import { clickhouseLimits } from '../../limits/clickhouse-limits.ts';

/** What it works with. */
export interface InsertParts {
  /** Resolves when the rows are kept. */
  readonly insert: (rows: Buffer) => Promise<void>;
  /** Milliseconds, never set back. */
  readonly nowMs: () => number;
  readonly delayMs?: number;
}

interface Waiting {
  readonly rows: Buffer;
  readonly count: number;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** The queue of one table. */
export class InsertQueue {
  readonly #parts: InsertParts;
  #waiting: Waiting[] = [];
  #bytes = 0;
  #running: Promise<void> | null = null;
  #failure: { readonly error: Error; readonly atMs: number } | null = null;

  constructor(parts: InsertParts) {
    this.#parts = parts;
  }

  /** Resolves when the rows are kept. Rejects with what the insert failed with, or
   *  AppError events_unwritable where too much waits. */
  add(rows: Buffer, count: number): Promise<void> {
    const { retryAfterMs, queueBytesMax } = clickhouseLimits;
    const failure = this.#failure;
    // One batch tries again, and the others hear what became of it.
    if (failure !== null && this.#parts.nowMs() - failure.atMs < retryAfterMs) {
      return Promise.reject(failure.error);
    }
    if (this.#bytes + rows.length > queueBytesMax && this.#bytes > 0) {
      return Promise.reject(queueFull());
    }
    this.#bytes += rows.length;
    return new Promise((resolve, reject) => {
      this.#waiting.push({ rows, count, resolve, reject });
      this.#running ??= this.#run().finally(() => (this.#running = null));
    });
  }

  /** Waits until nothing is on its way. */
  async settled(): Promise<void> {
    while (this.#running !== null) await this.#running;
  }

  async #run(): Promise<void> {
    const delayMs = this.#parts.delayMs ?? clickhouseLimits.insertDelayMs;
    while (this.#waiting.length > 0) {
      await new Promise((resolve) => setTimeout(resolve, delayMs));
      await this.#insertGroup(this.#takeGroup());
      if (this.#failure !== null) this.#refuseAll(this.#failure.error);
    }
  }

  #takeGroup(): Waiting[] {
    const { insertRowsMax } = clickhouseLimits;
    let rows = 0;
    const past = this.#waiting.findIndex(({ count }) => (rows += count) > insertRowsMax);
    return this.#waiting.splice(0, past < 0 ? this.#waiting.length : Math.max(1, past));
  }

  /** A batch that the server refuses does not keep the others of its group out. */
  async #insertGroup(group: readonly Waiting[]): Promise<void> {
    const error = await this.#tryInsert(group);
    if (error === null) return this.#kept(group);
    const kept: Waiting[] = [];
    const alone = group.length > 1 && isRefusal(error) ? group : [];
    for (const one of alone) if ((await this.#tryInsert([one])) === null) kept.push(one);
    if (kept.length > 0) this.#kept(kept);
    else this.#failure = { error, atMs: this.#parts.nowMs() };
    for (const one of group) if (!kept.includes(one)) this.#settle(one).reject(error);
  }

  /** Null, or what the insert failed with. */
  async #tryInsert(group: readonly Waiting[]): Promise<Error | null> {
    try {
      await this.#parts.insert(Buffer.concat(group.map(({ rows }) => rows)));
      return null;
    } catch (error) {
      return toAppError(error);
    }
  }

  #kept(group: readonly Waiting[]): void {
    this.#failure = null;
    for (const one of group) this.#settle(one).resolve();
  }

  #refuseAll(error: Error): void {
    for (const one of this.#waiting.splice(0)) this.#settle(one).reject(error);
  }

  #settle(one: Waiting): Waiting {
    this.#bytes -= one.rows.length;
    return one;
  }
}

/** The server answered, and does not want these rows. */
function isRefusal(error: Error): boolean {
  return error instanceof AppError && error.code === 'events_refused';
}

function queueFull(): AppError {
  const message = 'too many events wait for ClickHouse: nodes send them again';
  return new AppError('events_unwritable', message, { source: 'storage', retryable: true });
}
