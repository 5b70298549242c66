/** Questions to one front thread about itself that wait for their answers. */

import type { ThreadQuestion } from '../../../base/debug-figures.ts';
import { AppError } from '../../../base/errors.ts';

/** What the front thread adds to what every thread knows of itself. */
export type FrontQuestion =
  ThreadQuestion | { readonly about: 'generations'; readonly seconds: number };

/** An answer, or why there is none. */
export interface FrontAnswer {
  readonly id: number;
  readonly result: unknown;
  /** '' for an answer. */
  readonly error: string;
}

interface Waiting {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** Questions to one thread. */
export class ThreadQuestions {
  readonly #waiting = new Map<number, Waiting>();
  #nextId = 0;

  /** Sends a question; settles with its answer. Errors: AppError debug_failed. */
  ask(send: (id: number) => void): Promise<unknown> {
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      send(id);
    });
  }

  /** Takes an answer. */
  take({ id, result, error }: FrontAnswer): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error === '') waiting?.resolve(result);
    else waiting?.reject(failed(error));
  }

  /** The thread is gone. */
  end(): void {
    for (const { reject } of this.#waiting.values()) reject(failed('the thread ended'));
    this.#waiting.clear();
  }
}

function failed(message: string): AppError {
  return new AppError('debug_failed', message, { source: 'internal', retryable: true });
}
