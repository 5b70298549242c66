/** How long parts of a request may take, in ms: the node's times, or those of its path. */

/** Times towards the client. */
export interface ClientTimes {
  /** No byte of an expected request body. */
  readonly bodyProgressTimeoutMs: number;
  /** The client takes nothing of its answer. */
  readonly sendProgressTimeoutMs: number;
  /** Head complete to answer sent. */
  readonly requestTotalTimeoutMs: number;
  /** Idle between requests. */
  readonly keepAliveTimeoutMs: number;
  /** A WebSocket on which neither side sends. */
  readonly websocketIdleMs: number;
}

/** Times towards the origin. */
export interface OriginTimes {
  /** TCP and TLS together. */
  readonly connectTimeoutMs: number;
  /** What was sent last of the request to the head of the answer. */
  readonly firstByteTimeoutMs: number;
  /** No byte of an expected response body. */
  readonly readProgressTimeoutMs: number;
}
