/** Messages on their way to one node: the newest configuration replaces older ones that wait. */

import { Outbox } from '../../../base/outbox.ts';
import type { ConnectResponse } from '../../../proto/gen/waf/v1/agent_stream_pb.ts';
import { callLimits } from '../../limits/call-limits.ts';

/** Of these only the newest counts. */
const replaced: ReadonlySet<string | undefined> = new Set(['configUpdate', 'servingGrant']);

/** A queue that one stream drains. */
export class Outgoing implements AsyncIterable<ConnectResponse> {
  readonly #waiting = new Outbox<ConnectResponse>();
  #ended = '';

  /** Why the stream ends before its node ended it; '' where the node did. */
  get ended(): string {
    return this.#ended;
  }

  /** Adds a message. A configuration or grant replaces one that still waits. */
  push(message: ConnectResponse): void {
    const { case: kind } = message.message;
    if (replaced.has(kind)) this.#waiting.remove((older) => older.message.case === kind);
    this.#waiting.push(message);
    if (this.#waiting.length <= callLimits.nodeWaitingMax) return;
    // A node that reads nothing shall not keep what it will never read.
    this.#waiting.remove();
    this.end('the node does not read what it is sent');
  }

  /** Closes the queue, and the stream with this reason, whatever its node does. */
  end(reason: string): void {
    if (this.#ended === '') this.#ended = reason;
    this.close();
  }

  /** Ends the iteration after what is queued. */
  close(): void {
    this.#waiting.close();
  }

  [Symbol.asyncIterator](): AsyncGenerator<ConnectResponse> {
    return this.#waiting[Symbol.asyncIterator]();
  }
}
