/** The bounds of the management API: requests, connections, pages. */

/** Calls, their connections and what one call may ask for. */
export const callLimits = {
  /** Nesting of a JSON request; deeper ones are refused before they are parsed further. */
  jsonDepthMax: 64,
  /** One request message; documents and archives are the largest. */
  requestBytesMax: 16 * 1024 * 1024,
  /** One request message that can hold neither files nor long lists. */
  smallRequestBytesMax: 2 * 1024 * 1024,
  /** Items of one list in a request whose field has no rule of its own. */
  listItemsMax: 10_000,
  /** Commas, colons and brackets of one JSON request; a million addresses have three each. */
  jsonValuesMax: 4_000_000,
  /** Questions to the engine at once; it turns away what would wait too long. */
  engineCallsMax: 64,
  /** Open connections of one entrance: a thousand nodes have up to three each. */
  connectionsMax: 4_096,
  /** How long the rest of a request refused early is read and discarded. */
  lingerMs: 2_000,
  /** Answers kept for retries with the same idempotency key; the oldest are dropped. */
  keptAnswersMax: 10_000,
  /** Calls of one session on average; an idle one may send the burst at once. */
  callsPerSecond: 50,
  callBurstMax: 1_000,
  /** Requests that one HTTP/2 connection may have open. */
  streamsPerConnectionMax: 100,
  /** Connections of one address or IPv6 /64; an office with its nodes may share one. */
  connectionsPerAddressMax: 256,
  /** Those of them over which nobody signed in has called yet. */
  strangersPerAddressMax: 64,
  /** Silence after which a connection may be closed in favor of others of its address. */
  silentGraceMs: 2_000,
  /** TLS handshakes that begin in one turn of the event loop, some 2 ms each; others wait. */
  handshakesPerTurn: 4,
  /** From accepting a connection, or its turn, to the end of its TLS handshake. */
  handshakeTimeoutMs: 10_000,
  /** From there, or from the first byte of a later request, to the end of its head. */
  headTimeoutMs: 15_000,
  /** Time for a body, extended by what arrives at this rate, and the longest time in all. */
  bodyTimeoutMs: 30_000,
  bodyBytesPerSecondMin: 16 * 1024,
  bodyLongestMs: 1_200_000,
  /** An answer that its client does not read. */
  answerTimeoutMs: 30_000,
  /** A connection without a request. */
  idleTimeoutMs: 60_000,
  /** How often those deadlines are looked at. */
  sweepEveryMs: 1_000,
  /** PING and SETTINGS frames of one HTTP/2 connection between two looks. */
  controlFramesPerSweepMax: 64,
  /** Memory of one HTTP/2 connection in MB: heads, frames and bodies that wait to be read. */
  sessionMemoryMbMax: 4,
  /** How often the management certificate is looked at: files may change, ours may be due. */
  certificateCheckMs: 3_600_000,
  /** One PEM file of the management listener; a chain has some KB. */
  pemBytesMax: 1_048_576,
  /** Items of one page. */
  pageSizeMax: 200,
  /** Items skipped by offset; stated in the contract. */
  offsetMax: 100_000,
  /** Values of one filter of a query. */
  filterValuesMax: 200,
  /** Work on a long series of rows before other calls get their turn. */
  scanSliceMs: 5,
  /** Bytes of one part of an export; the next part continues where it ends. */
  exportPartBytesMax: 8 * 1024 * 1024,
  /** Entries of an IP list that a plan shows; longer lists are shown by their length. */
  diffEntriesMax: 500,
  /** What a node says of a configuration that it could not apply. */
  applyErrorCharactersMax: 4_000,
  /** Sites that a node names as not served yet. */
  interimSitesMax: 10_000,
  /** How long an answer waits for the built-in node to serve its change, and how often it looks. */
  servedWaitMs: 3_000,
  servedPollMs: 10,
  /** After its stream ended, or at a start, answers wait for a node that long. */
  nodeReturnMs: 8_000,
  /** A node's stream on which nothing came for that long does not keep another run of it out. */
  nodeSilenceMs: 45_000,
  /** Messages waiting for one node; past it the stream ends and the node connects anew. */
  nodeWaitingMax: 1_024,
  /** How often a stream looks whether its session still stands. */
  sessionCheckMs: 1_000,
  /** Body of an action of telemetry. */
  telemetryBodyBytesMax: 64 * 1024,
  /** Resources written by one bulk call. */
  bulkMax: 500,
} as const;
