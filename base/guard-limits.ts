/** The bounds of guards and of the trust in addresses that clients state. */

/** What guards are set to, and what they remember. */
export const guardLimits = {
  /** Entries of one IP list. */
  listEntriesMax: 1_000_000,
  /** Records of a country database that are kept decoded; there are some 250 countries. */
  countryRecordsMax: 4_096,
} as const;

/** User names and passwords of paths; every count is that of one site in one thread. */
export const pathAuthLimits = {
  /** Checks under way, 16 MB and 40 ms of CPU each; further clients are to come again. */
  checksMax: 8,
  /** Wrong passwords of a client's network before it waits, and the time they count. */
  failuresMax: 10,
  failuresSpanMs: 60_000,
  networksMax: 4_096,
  /** Credentials that were right, which are not checked again. */
  rememberedMax: 1_024,
} as const;

/** Services that are asked before requests. */
export const forwardAuthLimits = {
  /** One question where the rule names no other time. */
  askMs: 5_000,
  /** Questions of one site and thread under way; further clients are to come again. */
  asksMax: 256,
  /** Page of an answer that refuses; a longer one counts as a failure. */
  answerBytesMax: 65_536,
  /** Fields of one answer that origins get, all together. */
  copiedBytesMax: 16_384,
  /** Connections of one rule and thread that are kept for the next question. */
  idleMax: 16,
  idleMs: 10_000,
} as const;

/** Challenges, and the clearances that they lead to. */
export const botLimits = {
  /** Challenges in a row before a visitor gets a plain page: settings that disagree end there. */
  challengesInARow: 3,
  /** A clearance that was issued this long ago and is refused counts as in a row. */
  rowSpanMs: 120_000,
  /** Wait of the check that needs no script; shorter than any time to solve. */
  waitMs: 5_000,
  /** Such checks that a client's network passes in an hour; from then on it needs script. */
  waitsPerNetwork: 30,
  waitsWindowSeconds: 3_600,
  /** Wrong answers of a client's network to questions for people, and the time they count. */
  wrongAnswersPerNetwork: 20,
  wrongAnswersWindowSeconds: 600,
  /** A clearance for which no proof of work was done lasts this long at most. */
  waitClearanceSeconds: 300,
  /** A longer path is not gone back to after a challenge. */
  returnPathCharsMax: 1_024,
  /** Longer tokens are none of ours. */
  tokenCharsMax: 4_096,
  /** Clearances of one name that are looked at: others may have set cookies of that name. */
  cookiesPerNameMax: 3,
  /** Clearances that a thread remembers as opened, some 500 bytes each. */
  rememberedClearancesMax: 8_192,
  /** Keys that open; the newest seals. */
  keysMax: 4,
  /** Addresses of crawlers that a thread remembers, and for how long. */
  crawlersRememberedMax: 4_096,
  crawlerTrustedMs: 6 * 3_600_000,
  crawlerRefusedMs: 600_000,
  /** Look-ups of crawlers' names under way in a thread. */
  crawlerLookUpsMax: 8,
  crawlerLookUpMs: 3_000,
} as const;

/** Services of others that tell people from programs. */
export const verifierLimits = {
  /** Verifiers of a deployment, and hosts that one names. */
  verifiersMax: 32,
  hostsMax: 1_000,
  /** What a widget gives the visitor; the target that brings it here ends at 16 KiB. */
  responseCharsMax: 8_192,
  /** One question, from the look-up of the name to the last byte of the answer. */
  askMs: 5_000,
  answerBytesMax: 16_384,
  /** Questions of one thread under way; further visitors are to come again. */
  asksMax: 64,
  /** Failures in a row after which a verifier is not asked for this long. */
  failuresMax: 3,
  restMs: 30_000,
  /** Verifiers that a thread remembers as failing. */
  rememberedMax: 256,
} as const;

/** Counts of requests that rate limits need, in memory that all threads share. */
export const rateLimits = {
  /** Sets of rows: two million rows of 64 bytes, twice the keys that are promised. */
  sets: 32_768,
  /** Rows of a set, looked through one by one. With a million keys none is ever full. */
  waysPerSet: 64,
  /** Attempts at a lock before its holder is waited for, then milliseconds of waiting. */
  lockSpins: 1_000,
  lockWaitsMax: 200,
  /** How often changed sets are saved, how many at a time, and on disk in all. */
  saveEveryMs: 1_000,
  savedSetsMax: 4_096,
  savedBytesMax: 512 * 1024 * 1024,
  /** Limits of one site, its policy's among them; each is asked for every request. */
  limitsPerSiteMax: 200,
  /** A session or header that is longer is counted by this much of it. */
  keyBytesMax: 512,
} as const;

/** What nodes tell each other of rate limits through Redis. */
export const rateExchangeLimits = {
  /** Pause between two exchanges: how late a node learns what others counted, beside Redis. */
  everyMs: 100,
  /** An exchange that takes longer failed: the connection is given up. */
  deadlineMs: 1_000,
  /** Pause before the next attempt to connect. */
  reconnectMs: 1_000,
  /** Notes that wait for an exchange, 20 bytes each, and how many one exchange takes. */
  journalNotes: 65_536,
  notesPerExchange: 8_192,
  /** Bans and holds that Redis keeps for nodes that join, and how many one exchange reads. */
  holdsKept: 100_000,
  holdsPerExchange: 1_000,
  /** Challenges used while Redis was away that it gets afterwards. */
  usesKept: 10_000,
  /** Questions of one thread about challenges that wait at a time, and how long one does. */
  usesWaiting: 1_000,
  useWaitMs: 2_000,
  /** Seconds that Redis remembers a used challenge beyond its time: clocks of nodes differ. */
  useExtraSeconds: 60,
  /** Bytes of the address of Redis. */
  urlBytesMax: 1_024,
} as const;

/** Trust profiles, and what is noted of clients that state addresses. */
export const trustLimits = {
  /** Trust profiles. */
  trustNodesMax: 32,
  trustEdgesMax: 128,
  trustRulesMax: 32,
  trustPathsMax: 256,
  trustRangesMax: 100_000,
  trustListsPerNodeMax: 16,
  /** Addresses read of one forwarding header; a longer one is not believed. */
  forwardedHopsMax: 64,
  /** Clients that forge headers that are remembered, and for how long. */
  spoofTuplesMax: 1_000,
  spoofKeptMs: 3_600_000,
  /** Samples of one analysis, how long it collects, analyses at once, bytes kept of a header. */
  clientSamplesMax: 500,
  clientSampleMs: 300_000,
  analysesMax: 16,
  sampleHeaderBytesMax: 512,
} as const;
