/** Bounds of what is checked and counted of requests to documented APIs. */

/** Checks of requests against API documents. */
export const schemaLimits = {
  /** A longer body is not evaluated, bytes: it is held and parsed on the thread that serves. */
  bodyBytesMax: 1024 * 1024,
  /** Largest body whose files a body control looks at, bytes; it is held meanwhile. */
  controlledBodyBytesMax: 32 * 1024 * 1024,
  /** Deeper JSON is not evaluated: checks of recursive schemas call themselves. */
  jsonDepthMax: 64,
  /** JSON with more members and items is not evaluated: the cost of a check grows with them. */
  jsonNodesMax: 50_000,
  /**
   * Calls of functions in one check. Alternatives that refer to themselves are tried again for each
   * level of a value, twice as often each: what needs more calls is not evaluated.
   */
  callsPerCheckMax: 100_000,
  /** Parts of a multipart body, and bytes of the fields of one; more is not evaluated. */
  partsMax: 1_000,
  partHeaderBytesMax: 8 * 1024,
  /** Pairs of a query or form; more are not evaluated. */
  pairsMax: 4_096,
  /** Kinds of violations that one site counts by themselves in one interval of 10 seconds. */
  fingerprintsMax: 256,
  /** Length of the intervals that counts belong to, milliseconds. */
  countIntervalMs: 10_000,
} as const;

/** Endpoints that are learned from traffic, for one site. */
export const endpointLimits = {
  /** Segments of all paths; some 200 bytes each. What finds no place is counted. */
  nodesMax: 4_000,
  /** Names at one place of a path: with more, all of them are one parameter. */
  childrenMax: 48,
  /** Segments of one path. */
  depthMax: 16,
  /** A longer segment is a parameter. */
  segmentCharsMax: 48,
  hostCharsMax: 253,
  /** Methods, times hosts, of one path. */
  methodsMax: 64,
  /** Requests after which an endpoint is reported: a name that came by chance is not. */
  reportedFrom: 5,
  /** Requests that a thread looks at between two reports; each costs a microsecond. */
  learnedPerInterval: 500,
  /** Sites of one thread whose endpoints are learned. */
  sitesMax: 1_000,
} as const;
