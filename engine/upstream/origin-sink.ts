/** What an origin connection tells whoever it works for, and the ways in which it fails. */

import type { OriginTimes } from '../contract/request-times.ts';
import type { ResponseHeadParser } from '../http/response-head.ts';

/** Stable codes; `status` is what the client gets when nothing was sent to it yet. */
export const ORIGIN_FAILURE = {
  /** Address unknown, refused, unreachable. */
  connect: { code: 'origin_connect', status: 502 },
  /** TLS could not be agreed on. */
  tls: { code: 'origin_tls', status: 502 },
  /** The certificate leads to no accepted authority. */
  tlsAuthority: { code: 'origin_tls_authority', status: 502 },
  /** The certificate is expired or not yet valid. */
  tlsExpired: { code: 'origin_tls_expired', status: 502 },
  /** The certificate is for another name. */
  tlsName: { code: 'origin_tls_name', status: 502 },
  connectTimeout: { code: 'origin_connect_timeout', status: 504 },
  /** Too many requests wait for a connection, or waited too long. */
  busy: { code: 'origin_busy', status: 503 },
  noEndpoint: { code: 'origin_none', status: 503 },
  /** Closed before the first byte of an answer on a connection that had served before. */
  stale: { code: 'origin_stale', status: 502 },
  /** Closed or reset before its answer was complete. */
  closed: { code: 'origin_closed', status: 502 },
  /** The answer is not strict HTTP/1.x. */
  badResponse: { code: 'origin_bad_response', status: 502 },
  firstByteTimeout: { code: 'origin_first_byte_timeout', status: 504 },
  readTimeout: { code: 'origin_read_timeout', status: 504 },
} as const;

/** Why an origin gave no whole answer. */
export type OriginFailure = (typeof ORIGIN_FAILURE)[keyof typeof ORIGIN_FAILURE];

/** Failures before a connection was there: no request was sent. */
const beforeConnected: ReadonlySet<OriginFailure> = new Set([
  ORIGIN_FAILURE.connect,
  ORIGIN_FAILURE.tls,
  ORIGIN_FAILURE.tlsAuthority,
  ORIGIN_FAILURE.tlsExpired,
  ORIGIN_FAILURE.tlsName,
  ORIGIN_FAILURE.connectTimeout,
]);

/** True where another address may be asked: this one saw nothing of the request. */
export function neverConnected(failure: OriginFailure): boolean {
  return beforeConnected.has(failure);
}

/** What a request does with the connection that it was given, whichever protocol that speaks. */
export interface OriginLink {
  /** Head of the current response; valid in and after `originHead`, until the next read. */
  readonly head: ResponseHeadParser;
  readonly headBytes: Uint8Array;
  /** Key of the WebSocket that the request asks for; null for every other. */
  websocketKey: string | null;
  /** True where trailers of the answer are wanted; others are checked and thrown away. */
  keepsTrailers: boolean;
  /** True once bytes go both ways as they are. */
  readonly upgraded: boolean;
  /** Sends request bytes, which stay as they are; false when it should wait for `originDrain`. */
  write(bytes: Uint8Array): boolean;
  /** Like `write`, of bytes that may change after this call. */
  writeCopy(bytes: Uint8Array): boolean;
  /** Sends a head that body bytes may follow in this turn. */
  writeHead(bytes: Uint8Array): boolean;
  /** The request was written to its end. */
  endRequest(): void;
  /** The connection serves no other request after the current one. */
  closeAfterResponse(): void;
  /** Stops reading the response; the client is slow. */
  pauseRead(): void;
  resumeRead(): void;
  /** Gives the request up. */
  abandon(): void;
}

/**
 * One request's side of an origin connection. Bytes are valid during the call only: the read buffer
 * is shared by all connections of a thread.
 */
export interface OriginSink {
  /** How long the origin may take; the same while one connection serves the request. */
  readonly originTimes: OriginTimes;
  /** A connection is at hand; write the request to it now. */
  originReady(connection: OriginLink): void;
  /**
   * The head of an informational answer is complete, as `originHead` has that of the final one; not
   * of 100 and 101, which are for one connection only.
   */
  originInterim(connection: OriginLink): void;
  /** The final response head is complete: see `connection.head` and `connection.headBytes`. */
  originHead(connection: OriginLink): void;
  /** Body content, framing removed. */
  originBody(bytes: Uint8Array, start: number, end: number): void;
  /**
   * The response is complete. The connection no longer belongs to this request. `trailers`: lines
   * with their ends; none where they are thrown away.
   */
  originEnd(trailers?: string): void;
  /** One read was handled to its end: what was gathered may be sent. */
  originTurnEnd(): void;
  /** The connection takes more request bytes. */
  originDrain(): void;
  /** Nothing more comes. */
  originFailed(failure: OriginFailure): void;
}
