/** Messages on their way out of a stream: a queue that an async iterator drains. */

/** A queue that can be iterated once. Its callers bound what they push. */
export class Outbox<T> implements AsyncIterable<T> {
  #queue: T[] = [];
  #wake: (() => void) | null = null;
  #closed = false;

  /** Messages that wait. */
  get length(): number {
    return this.#queue.length;
  }

  /** Adds a message; ignored after `close`. */
  push(message: T): void {
    if (this.#closed) return;
    this.#queue.push(message);
    this.#wake?.();
  }

  /** Removes the messages that wait and match, all of them by default; ignored after `close`. */
  remove(matches: (message: T) => boolean = () => true): void {
    if (this.#closed) return;
    this.#queue = this.#queue.filter((waiting) => !matches(waiting));
  }

  /** Ends the iteration after what is queued. */
  close(): void {
    this.#closed = true;
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    for (;;) {
      const next = this.#queue.shift();
      if (next !== undefined) {
        yield next;
        continue;
      }
      if (this.#closed) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = null;
    }
  }
}
