/** Owns the messages on their way to one node: newest configuration wins, the rest in order. */

import type { ConnectResponse } from '../../../proto/gen/waf/v1/agent_stream_pb.ts';
import { callLimits } from '../../limits/call-limits.ts';

/** Of these only the newest counts. */
const replaced: ReadonlySet<string | undefined> = new Set(['configUpdate', 'servingGrant']);

/** A queue that one stream drains. */
export class Outgoing implements AsyncIterable<ConnectResponse> {
  #queue: ConnectResponse[] = [];
  #wake: (() => void) | null = null;
  #closed = false;
  #ended = '';

  /** Why the stream ends before its node ended it; '' where the node did. */
  get ended(): string {
    return this.#ended;
  }

  /** Adds a message. A configuration or grant replaces one that still waits. */
  push(message: ConnectResponse): void {
    if (this.#closed) return;
    const { case: kind } = message.message;
    if (replaced.has(kind)) {
      this.#queue = this.#queue.filter((waiting) => waiting.message.case !== kind);
    }
    this.#queue.push(message);
    if (this.#queue.length > callLimits.nodeWaitingMax) {
      // A node that reads nothing shall not keep what it will never read.
      this.#queue = [];
      this.end('the node does not read what it is sent');
    }
    this.#wake?.();
  }

  /** Closes the queue, and the stream with this reason, whatever its node does. */
  end(reason: string): void {
    if (this.#ended === '') this.#ended = reason;
    this.close();
  }

  close(): void {
    this.#closed = true;
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<ConnectResponse> {
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
