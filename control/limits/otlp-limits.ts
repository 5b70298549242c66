/** The bounds of exports by OpenTelemetry's protocol; standards are those of its specification. */

/** Metrics, log records and spans for a collector. */
export const otlpLimits = {
  /** Time for one request, and between two exports of metrics. */
  timeoutMs: 10_000,
  timeoutMsMax: 60_000,
  metricIntervalMs: 60_000,
  metricIntervalMsMin: 1_000,
  metricIntervalMsMax: 3_600_000,
  /** Attempts of one export beyond the first, at a collector that is busy or away. */
  metricRetriesMax: 3,
  /**
   * Log records, or spans, that wait, that leave together, and the time that they wait for each
   * other.
   */
  queueRecords: 2_048,
  queueRecordsMax: 65_536,
  batchRecords: 512,
  scheduleDelayMs: 1_000,
  spanDelayMs: 5_000,
  scheduleDelayMsMax: 60_000,
  /** Bytes of records that wait: values of requests may be long. */
  queueBytesMax: 16 * 1024 * 1024,
  /** Of them in one request: as JSON they are some times as long, and collectors take 20 MiB. */
  batchBytesMax: 1024 * 1024,
  /** Requests of a second and node whose spans are sent: without a word, and at most. */
  tracesPerSecond: 100,
  tracesPerSecondMax: 10_000,
  /** Time for what waits when control ends: the stores close after it. */
  flushMs: 2_000,
  /** Waits between attempts while the collector is busy or away: first, and longest. */
  retryMinMs: 1_000,
  retryMaxMs: 30_000,
  /** Characters that are read of an answer, which may say how many records it refused. */
  answerCharactersMax: 64 * 1024,
  /** Characters of one environment variable, and pairs in a list. */
  variableCharactersMax: 8_192,
  pairsMax: 64,
} as const;
