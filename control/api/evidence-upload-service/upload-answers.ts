/**
 * The answers to one upload stream: each leaves when the disk has what it tells, while further
 * messages are read. Where a node does not take its answers, nothing more is read from it.
 */

import type { MessageInitShape } from '@bufbuild/protobuf';
import type { UploadResponseSchema } from '../../../proto/gen/waf/v1/evidence_upload_pb.ts';

type Answer = MessageInitShape<typeof UploadResponseSchema>;

/** Answers of one stream. */
export class UploadAnswers implements AsyncIterable<Answer> {
  readonly #waitingMax: number;
  /** In the order of what they answer; null while the write is under way. */
  #slots: { answer: Answer | null }[] = [];
  #closed = false;
  #ended = '';
  #wake: (() => void) | null = null;
  #wakeReader: (() => void) | null = null;

  constructor(waitingMax: number) {
    this.#waitingMax = waitingMax;
  }

  /** Why the stream ends before its node ended it; '' where the node did. */
  get ended(): string {
    return this.#ended;
  }

  /** Takes an answer that comes; it may not reject. Resolves when there is room for another. */
  async add(answer: Promise<Answer>): Promise<void> {
    const slot: { answer: Answer | null } = { answer: null };
    this.#slots.push(slot);
    void answer.then((made) => {
      slot.answer = made;
      this.#wake?.();
    });
    while (this.#ended === '' && this.#slots.length >= this.#waitingMax) {
      await new Promise<void>((resolve) => {
        this.#wakeReader = resolve;
      });
    }
  }

  /** Ends the stream now, whatever its node does. */
  end(reason: string): void {
    if (this.#ended === '') this.#ended = reason;
    this.#wake?.();
    this.#wakeReader?.();
  }

  /** Nothing more is read; what is under way is still answered. */
  close(): void {
    this.#closed = true;
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Answer> {
    try {
      while (this.#ended === '') {
        const next = this.#slots[0]?.answer ?? null;
        if (next !== null) {
          this.#slots.shift();
          this.#wakeReader?.();
          yield next;
        } else if (this.#isOver()) return;
        else {
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
        }
      }
    } finally {
      // Whoever left takes no answer any more: the reader must not wait for that.
      if (!this.#isOver()) this.end('the node is gone');
    }
  }

  #isOver(): boolean {
    return this.#closed && this.#slots.length === 0;
  }
}
