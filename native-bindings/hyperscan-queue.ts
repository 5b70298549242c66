/**
 * Compiles several databases at once, in native threads. Never picks patterns, their
 * order or the number of threads.
 */
import { addon } from './load-addon.ts';
import type { NativeCompileQueue } from './load-addon.ts';
import type { HsExpression } from './hyperscan.ts';

/** What one compilation came to: the serialized database, or why there is none. */
export type HsCompiled =
  | { readonly id: number; readonly bytes: Uint8Array }
  | {
      readonly id: number;
      readonly bytes?: undefined;
      readonly message: string;
      /** Index in the list, -1 when it is about all of it. */
      readonly expression: number;
    };

/** Compilations of block databases, begun in the order in which they were submitted. */
export class HsCompileQueue {
  readonly #native: NativeCompileQueue;

  constructor(threads: number) {
    this.#native = new addon.HsCompileQueue(threads);
  }

  /** `id` comes back with the result. Errors: code `closed` after close(). */
  submit(id: number, expressions: readonly HsExpression[]): void {
    this.#native.submit(id, expressions);
  }

  /**
   * The next result; null when every one was taken. Blocks the calling thread: up to some seconds.
   */
  next(): HsCompiled | null {
    const result = this.#native.next();
    if (result === null) return null;
    const { id, bytes, message = '', expression = -1 } = result;
    return bytes === undefined ? { id, message, expression } : { id, bytes };
  }

  /** Ends the threads; what is being compiled is finished first, what waits is given up. */
  close(): void {
    this.#native.close();
  }
}
