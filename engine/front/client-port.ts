/** What a request needs of the client side, whatever listener it came through; no behavior. */

import type { ConnectionFacts } from '../contract/message.ts';
import type { ClientTimes } from '../contract/request-times.ts';
import type { TlsFacts } from '../contract/tls.ts';
import type { RequestHeadParser } from '../http/request-head.ts';

/** The client of one running request. */
export interface ClientPort {
  /** Holds the head of the running request. */
  readonly parser: RequestHeadParser;
  readonly facts: ConnectionFacts;
  /** Null for a plain connection. */
  readonly tls: TlsFacts | null;
  /** Ready header lines about this connection for origins. */
  readonly forwardedLines: string;
  /** Lower-case host without port of the running request. */
  host(): string;
  /**
   * Sends bytes of the answer as they stand on the wire (HTTP/1.1, heads never split); false when
   * the caller should wait for `clientDrained`.
   */
  send(bytes: Uint8Array): boolean;
  /** The path of the running request, which has just begun, has times of its own. */
  limitTimes(times: ClientTimes): void;
  /** The running request wants its body now, or wants no more for a while. */
  bodyWanted(wanted: boolean): void;
  /** A WebSocket is open: bytes flow both ways, and silence of both is what ends it. */
  tunnelOpened(): void;
  /** The running request ended. `keep` allows another; else the connection closes. */
  exchangeEnded(keep: boolean): void;
  /** Closes at once, without an answer. */
  destroy(): void;
}
