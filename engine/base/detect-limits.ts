/** The bounds of detection: how deep values are opened, and how much of them is searched. */

/** Opening values and searching their leaves. */
export const detectLimits = {
  /** Encodings within encodings: base64 of JSON of a URL has three. */
  depthMax: 6,
  /** Leaves of all values of one request. */
  leavesMax: 2_048,
  /**
   * Bytes of all leaves of one request that are searched beside its values: a base, and a number
   * for each byte of a value.
   */
  leafBytesMin: 128 * 1024,
  leafBytesPerByte: 4,
  leafBytesMax: 4 * 1024 * 1024,
  /** Hits of one detector in one leaf that have places; with more it counts in the whole leaf. */
  hitsPerDetectorMax: 16,
  /** Matches of a detector in a leaf whose surroundings are read; a further one counts. */
  looksPerDetectorMax: 128,
  /** Tokens in one window of a tokenizer; longer leaves are read in windows that overlap. */
  tokensMax: 8_192,
  /** Nested arrays and objects of JSON; what is deeper stays text. */
  jsonDepthMax: 64,
} as const;
