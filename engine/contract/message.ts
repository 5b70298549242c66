/**
 * The shape in which one HTTP message head travels between rooms: the bytes as received and the
 * offsets of their parts. Plain data; structured-cloneable, so that a pool worker gets it as is.
 */

import type { RequestContent } from './detection-content.ts';

/** Index of each fixed entry in `MessageHead.spans`; header fields follow from `fields` on. */
export const SPAN = {
  /** Whole start line, without its line end. */
  lineStart: 0,
  lineEnd: 1,
  /** Request: method. Response: status code digits. */
  firstStart: 2,
  firstEnd: 3,
  /** Request: target as sent. Response: reason phrase (may be empty). */
  secondStart: 4,
  secondEnd: 5,
  /** Protocol, for example HTTP/1.1. */
  protocolStart: 6,
  protocolEnd: 7,
  /** Number of header fields. */
  fieldCount: 8,
  /**
   * Offset of the first field; each takes four entries: name start, name end, value start, value
   * end.
   */
  fields: 9,
} as const;

/** One message head. `bytes` may be longer than the head; offsets in `spans` are into `bytes`. */
export interface MessageHead {
  readonly bytes: Uint8Array;
  readonly spans: Int32Array;
}

/** Who talks to whom; addresses are text without port or brackets. */
export interface ConnectionFacts {
  /** The client as the trust profile resolves it; the peer until then. */
  readonly clientIp: string;
  readonly clientPort: number;
  readonly peerIp: string;
  readonly serverIp: string;
  readonly serverPort: number;
  readonly scheme: 'http' | 'https';
}

/** Everything known of a request when its head is complete. */
export interface RequestSnapshot {
  readonly requestId: string;
  /** Milliseconds since the Unix epoch. */
  readonly receivedAtMs: number;
  readonly siteId: string;
  /** Text fields of gRPC messages are arguments; absent where they are not. */
  readonly grpcFields?: boolean;
  /** Signs that are ordinary content of its values; absent for none. */
  readonly content?: readonly RequestContent[];
  readonly connection: ConnectionFacts;
  readonly head: MessageHead;
  /** Bytes of the message of a WebSocket that is the body; absent for requests: their head says. */
  readonly messageBytes?: number;
}

/** The inspected part of a body. */
export interface BodySnapshot {
  readonly bytes: Uint8Array;
  /** True when the message continues after `bytes` (the inspection limit was reached). */
  readonly truncated: boolean;
  /** Set where `bytes` are no beginning: a window over what follows the inspection limit. */
  readonly rest?: BodyRest;
  /** Set for a long multipart body: `bytes` are all of it but most of the content of its files. */
  readonly files?: FilesLeftOut;
}

/** What `bytes` of a multipart body do not hold. */
export interface FilesLeftOut {
  /** Pairs: an offset in `bytes`, and how many more bytes the body has there. */
  readonly gaps: readonly number[];
  /** True where another session has inspected the beginning of the body. */
  readonly again: boolean;
}

/** What is known of a body whose later bytes are inspected by themselves. */
export interface BodyRest {
  /** Its first bytes, which tell what it is where its type does not. */
  readonly begins: Uint8Array;
  /** True where the window begins within a CDATA section. */
  readonly inCdata: boolean;
  /** Bytes of a body of gRPC that stands before the window and reads it as messages. */
  readonly messageBytes?: number;
}

/** The head of the origin's answer. */
export interface ResponseSnapshot {
  readonly status: number;
  readonly head: MessageHead;
}
