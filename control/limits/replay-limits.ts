/** The bounds of trying retained requests against a draft of a policy. */

/** One run, and how many of them there are. */
export const replayLimits = {
  /** Requests that one run tries; of more, a sample is drawn. Two evaluations of 1 ms each. */
  requestsMax: 10_000,
  /** Retained requests that one run looks at, the newest; some 5 us each. */
  scannedMax: 500_000,
  /** Requests that the engine is given together, and their bytes. */
  batchRequests: 32,
  batchBytesMax: 8 * 1024 * 1024,
  /** One body that is read back; larger ones are not tried. */
  bodyBytesMax: 4 * 1024 * 1024,
  /** Differences that are sent one by one; the others are counted. */
  differencesMax: 1_000,
  /** Rules that the summary names, those of the most requests. */
  rulesNamedMax: 200,
  /** Runs at once, and those that wait: the engine tries one request at a time anyway. */
  runsMax: 1,
  waitingMax: 4,
  /** The time that is looked at unless one is given. */
  standardRangeMs: 24 * 3_600_000,
} as const;
