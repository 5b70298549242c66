/** Owns the messages on their way to one node: newest configuration wins, the rest in order. */

import type { ConnectResponse } from '../../../proto/gen/waf/v1/agent_stream_pb.ts';
import { callLimits } from '../../limits/call-limits.ts';

/** A queue that one stream drains. */
export class Outgoing implements AsyncIterable<ConnectResponse> {
  #queue: ConnectResponse[] = [];
  #wake: (() => void) | null = null;
  #closed = false;

  /** Adds a message. A configuration replaces one that still waits. */
  push(message: ConnectResponse): void {
    if (message.message.case === 'configUpdate') {
      this.#queue = this.#queue.filter((waiting) => waiting.message.case !== 'configUpdate');
    }
    this.#queue.push(message);
    if (this.#queue.length > callLimits.nodeWaitingMax) this.close();
    this.#wake?.();
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
