/** The bounds of asking a language model. Operators set some of them lower or higher. */

/** One call, and all of them. */
export const aiLimits = {
  /** Calls at once; a model takes seconds for each. */
  callsAtOnceMax: 2,
  /** Bytes of what one call sends: about 16,000 tokens. */
  promptBytesMax: 64 * 1024,
  /** Bytes of the events that one call sends, and of one text in them. */
  dataBytesMax: 32 * 1024,
  dataTextCharsMax: 512,
  /** Events of a site that a conversation may look at. */
  chatEventsMax: 20,
  /** Turns of a conversation that are sent, the newest. */
  turnsMax: 20,
  /** Bytes that a provider may send for one answer, framing included. */
  answerBytesMax: 1024 * 1024,
  /** Characters of an answer that are shown. */
  answerCharsMax: 64 * 1024,
  /** A line of the answer's stream. */
  lineBytesMax: 64 * 1024,
  /** Bytes that stand for a token where the provider does not say how many it took. */
  bytesPerToken: 3,
  /** Retained requests that a drafted rule is tried on. */
  draftSampleMax: 500,
  /** Proposals that are kept; the oldest that are decided go. */
  proposalsMax: 1_000,
  /** Evidence that a proposal names. */
  evidenceNamedMax: 20,
  /** Sites that a translation may name. */
  sitesNamedMax: 100,
  /** The longest time back that a question can mean, seconds. */
  lookbackSecondsMax: 90 * 86_400,
} as const;
