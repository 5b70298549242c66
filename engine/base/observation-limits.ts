/** The bounds of what the engine tells: the stream to control, its spool, logs. */

/** The stream between an engine and its controller. */
export const linkLimits = {
  /** Facts waiting on disk for an acknowledgement; the oldest are dropped and counted. */
  factBytesMax: 128 * 1024 * 1024,
  /** Access events, sampled ones and errors waiting likewise. */
  accessBytesMax: 128 * 1024 * 1024,
  accessSampleBytesMax: 32 * 1024 * 1024,
  accessExportBytesMax: 64 * 1024 * 1024,
  errorBytesMax: 32 * 1024 * 1024,
  /** Counts waiting likewise; some 100 bytes a site and period. */
  counterBytesMax: 64 * 1024 * 1024,
  /** Batches waiting of one stream; what is known of each stays in memory. */
  spoolBatchesMax: 20_000,
  /** Batches that wait in memory while the disk takes none. */
  spoolMemoryBytesMax: 16 * 1024 * 1024,
  /** Batches that pass before a disk that refuses is asked again; doubles up to here. */
  spoolPausedWritesMax: 64,
  /** Gaps of one stream that wait for an acknowledgement; adjacent ones are merged. */
  gapsMax: 1_000,
  /** Counts of a period leave together. */
  counterDelayMs: 250,
  /** How long the engine waits at its end for control to receive what waits. */
  closeWaitMs: 1_000,
  /** Facts of one batch, and about their bytes. */
  batchFactsMax: 500,
  batchBytesMax: 256 * 1024,
  /** Longest wait before a batch that is not full leaves. */
  batchDelayMs: 100,
  /** Batches sent and not yet acknowledged. */
  batchesInFlightMax: 8,
  /** Matches of one request that travel; the rest is counted. */
  matchesMax: 64,
  /** Rules whose texts are kept encoded, and what is kept of one, in characters. */
  ruleTextsMax: 1_024,
  ruleTextBytesMax: 4_096,
  /** One matched value; the rest is cut. */
  matchedValueBytesMax: 512,
  /** Findings of a policy that an answer to a configuration names. */
  findingsMax: 10,
  /** Variables of one match that travel. */
  matchedVariablesMax: 8,
  /** Waits between attempts to connect: first, and longest. */
  reconnectMinMs: 100,
  reconnectMaxMs: 5_000,
  /** Within which enrolled nodes come back whose controller ended: each costs a handshake. */
  reconnectSpreadMs: 5_000,
  /** Silence after which the stream counts as dead; pings come far more often. */
  silenceMs: 45_000,
  /** Pings and state reports. */
  reportIntervalMs: 15_000,
  /** Requests of one batch that control has tried; others wait for all of them. */
  batchedRequestsMax: 64,
  /** One message of the engine service. */
  messageBytesMax: 160 * 1024 * 1024,
} as const;

/** Counts of finished requests, in one front thread and period. */
export const countLimits = {
  /** Combinations of a site and policy that keep their rules; then those that keep families. */
  alertKeysMax: 256,
  alertCoarseKeysMax: 512,
  /** Rules of one combination; requests that match more are counted without them. */
  alertRulesMax: 64,
  /**
   * Addresses that IP lists decided about; those past them are counted by binding. Some 100 bytes
   * each, so that one batch has room for those of 64 threads and more.
   */
  listHitsMax: 256,
} as const;

/** The file of finished requests (`waf engine --events`). */
export const eventFileLimits = {
  /** Bytes that wait for the disk; beyond it lines are lost, counted. */
  waitingBytesMax: 8 * 1024 * 1024,
  /** Pause before a file that could not be written is opened again. */
  retryMs: 5000,
} as const;

/** Choosing requests that are kept in detail, in one front thread. */
export const loggingLimits = {
  /** Paths of which a thread notes whether more examples are kept, some 100 bytes each. */
  sampledKindsMax: 20_000,
  /** Characters of a path that make its kind. */
  kindCharsMax: 128,
  /** How long windows of sites without traffic are kept; the longest window is an hour. */
  windowsKeptMs: 3_600_000,
  /** A request that takes longer belongs to a later window than the one it came in. */
  lateMs: 30_000,
  /** Counts that threads share: 8 bytes in each of the ways of a set, in two areas. */
  quotaSets: 8_192,
  quotaWays: 8,
  /** Resolution of the end of a count; the ends of 99 days differ. */
  quotaStepMs: 8_192,
  /** How often a count is tried again that another thread changes at the same time. */
  quotaTries: 64,
} as const;

/** Traces: what is read of a client's context, and what is sent. */
export const traceLimits = {
  /** Bytes of `tracestate`, all fields together; W3C asks for 512 at least. */
  stateBytesMax: 2_048,
  /** Its members, as W3C bounds them. */
  stateMembersMax: 32,
  /** Rules that one span names; the rest is counted. */
  rulesMax: 32,
} as const;

/** Evidence: headers and bodies of requests, on their way to control. */
export const evidenceLimits = {
  /** Bytes of the body of an answer; it travels in the message that announces the evidence. */
  answerBodyBytesMax: 32 * 1024,
  /** Bytes of a body that is kept whole; a request with more is marked as cut. */
  wholeBodyBytesMax: 32 * 1024 * 1024,
  /** Finished evidence of one thread that the main thread has not taken; then without content. */
  threadBytesMax: 16 * 1024 * 1024,
  /** Evidence that leaves a thread together, and the longest wait. */
  batchBytesMax: 512 * 1024,
  batchRecordsMax: 128,
  batchDelayMs: 100,
  /** About what a record weighs beside its content. */
  recordBytes: 512,
  /** Bytes that a front thread keeps to gather evidence in. */
  packBytes: 128 * 1024,
  /** Finished evidence in memory of the main thread, whatever the policy allows. */
  queueBytesMax: 128 * 1024 * 1024,
  /** Bytes of one message of an upload. */
  chunkBytesMax: 256 * 1024,
  /** Bytes of a body that were sent and are not on control's disk yet. */
  uploadWindowBytes: 512 * 1024,
  /** Evidence that was sent and is not acknowledged yet. */
  uploadsInFlightMax: 32,
  /** Records that travel in one message, their bytes, and those of the largest. */
  recordsMax: 256,
  recordsBytesMax: 256 * 1024,
  recordBytesMax: 128 * 1024,
  /** The largest body of a record; control keeps it in one piece. */
  recordBodyBytesMax: 64 * 1024,
  /** Messages of records that were sent and are not acknowledged yet. */
  recordMessagesInFlightMax: 4,
} as const;

/** Lines in the log for requests that failed; those past the bound of a period are counted. */
export const errorLineLimits = { linesMax: 20, periodMs: 10_000 } as const;

/** The access log's own file. */
export const accessLogLimits = {
  /** Size at which the file is set aside, in MB: what an operator may ask for. */
  rotateMbMax: 1_048_576,
  /** Files set aside: without a word, and at most. Each rotation renames all of them. */
  keepDefault: 5,
  keepMax: 100,
  /** A form of lines that an operator writes: room for every variable several times. */
  formatCharsMax: 4_096,
} as const;
