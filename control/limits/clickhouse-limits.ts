/** The bounds of what control sends to ClickHouse and reads from it. */

/** Sizes, counts and times. */
export const clickhouseLimits = {
  /** The variable that names the server. */
  variableCharactersMax: 2_048,
  /** Batches of nodes that wait for one insert, in bytes; more are refused and come again. */
  queueBytesMax: 64 * 1024 * 1024,
  /** Rows of one insert: a few seconds of memory at most on either side. */
  insertRowsMax: 50_000,
  /** Batches that come within this time are one insert: servers merge few large ones best. */
  insertDelayMs: 50,
  insertTimeoutMs: 10_000,
  /** After a failure, batches are refused at once for so long; then one is tried. */
  retryAfterMs: 1_000,
  questionTimeoutMs: 60_000,
  /** Statements that remove or change rows; a day of events is rewritten at most. */
  changeTimeoutMs: 10 * 60_000,
  changePollMs: 200,
  /** The newest events are looked at by spans of time, each eight times as long as the last. */
  firstSpanMs: 15 * 60_000,
  /** Events that one statement fetches. */
  fetchEvents: 500,
  /** Bytes of one answer. */
  answerBytesMax: 256 * 1024 * 1024,
  /** Text of one statement: ids of events and values of filters. */
  statementBytesMax: 4 * 1024 * 1024,
  connectionsMax: 16,
} as const;
