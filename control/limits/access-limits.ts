/** The bounds of IP lists, of what fills them, and of rules of access. */

/** IP lists, what fills them, and rules of access. */
export const accessLimits = {
  /** Lists of one installation. */
  listsMax: 2_000,
  /** Entries that Get shows with a list; more are read page by page. */
  shownEntriesMax: 1_000,
  /** Texts. */
  descriptionCharsMax: 2_000,
  noteCharsMax: 256,
  /** Bindings, country rules and rate limits of one installation. */
  bindingsMax: 10_000,
  countryRulesMax: 1_000,
  rateLimitsMax: 10_000,
  /** Countries of one rule; ISO 3166-1 has 249. */
  countryCodesMax: 300,
  /** Targets of one call or country rule. */
  targetsMax: 500,
  /** Sources of subscriptions. */
  urlCharsMax: 2_048,
  jsonPathsMax: 8,
  jsonPathCharsMax: 512,
  sourceHeadersMax: 16,
  syncIntervalSeconds: 3_600,
  syncIntervalSecondsMin: 60,
  syncIntervalSecondsMax: 30 * 86_400,
  /** One answer of a source, after decompression; a million IPv6 networks have some 25 MB. */
  sourceBytesMax: 64 * 1024 * 1024,
  /** JSON is read in one piece. */
  sourceJsonBytesMax: 32 * 1024 * 1024,
  /** One line or field of a source. */
  sourceLineBytesMax: 4_096,
  /** Values that JSONPaths may visit. */
  sourceJsonNodesMax: 4_000_000,
  /** A whole fetch with its redirects, and silence within it. */
  sourceTimeoutMs: 60_000,
  sourceIdleTimeoutMs: 15_000,
  redirectsMax: 5,
  /** Fetches at once; more wait. */
  syncsAtOnceMax: 2,
  /** Runs kept of one list. */
  syncRunsMax: 100,
  /** How long an update waits for approval. */
  heldUpdateMs: 7 * 86_400_000,
  /** Samples shown of what an update adds or removes. */
  heldSamplesMax: 20,
  /** Chunks written or removed in one transaction, so that others get their turn. */
  chunksPerWriteMax: 8,
  /** How often due subscriptions and lapsed entries are looked for. */
  accessTickMs: 5_000,
} as const;
