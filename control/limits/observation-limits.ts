/** The bounds of what control keeps of traffic. */

/** Events, counts, rankings and the load of nodes. */
export const observationLimits = {
  /** One batch of observations; nodes send some 256 KB. */
  batchBytesMax: 4 * 1024 * 1024,
  /** Name of one run of a node; ours have 16 bytes. */
  bootIdBytesMax: 64,
  /** Origin addresses of one health report of a node; pools of 64 for some sites each. */
  healthReportsMax: 20_000,
  /** Failing origins that a health message names. */
  originsNamedMax: 10,
  /** Events waiting for one slow reader of the tail; more are skipped and counted. */
  tailWaitingMax: 1_000,
  /** Different outcomes, statuses or reasons counted of one site. */
  countedKeysMax: 2_000,
  /** Rules of guards of one tenant whose decisions are counted, a row of 100 bytes each. */
  countedGuardRulesMax: 5_000,
  /** Entries of IP lists of one tenant whose decisions are counted, likewise. */
  countedListEntriesMax: 20_000,
  /** Requests of one kind that a shadow run shows. */
  shadowExamplesMax: 20,
  /** Characters of a site's or policy's id in counts. */
  countedNameCharsMax: 200,
  /** Events kept of each kind, and their bytes; whole segments of the oldest are dropped. */
  eventLanes: {
    security: { eventsMax: 20_000_000, bytesMax: 6 * 1024 * 1024 * 1024 },
    access: { eventsMax: 20_000_000, bytesMax: 4 * 1024 * 1024 * 1024 },
    access_sample: { eventsMax: 2_000_000, bytesMax: 512 * 1024 * 1024 },
    error: { eventsMax: 2_000_000, bytesMax: 512 * 1024 * 1024 },
  },
  /** How often events that are too old, or too many, are looked for. */
  forgetEventsEveryMs: 60_000,
  /** Work on a question here, other calls between; then the thread for long questions takes it. */
  scanHereMs: 100,
  /** That thread weighs 40 MB: without a question for so long, it ends. */
  scanThreadIdleMs: 60_000,
  /** Questions that it answers at the same time, in turns. */
  scanQuestionsMax: 64,
  /** Events that one answer of the thread which reads them carries. */
  scanPageEvents: 500,
  /**
   * A tail of this size in events, bytes or batches becomes a segment: a query looks into every
   * segment of its time, and the building of one takes a tenth of a second of slices.
   */
  segmentEventsMin: 4_096,
  segmentBytesMin: 8 * 1024 * 1024,
  tailRowsMax: 2_048,
  /** Events that are packed together, and the bytes that they may have unpacked. */
  eventBlockEvents: 32,
  eventBlockBytesMax: 64 * 1024 * 1024,
  /** Events of the layout before segments, unpacked: matches are bounded. */
  eventUnpackedBytesMax: 16 * 1024 * 1024,
  /** Traffic by minute is kept for a day, by hour for 90 days; some 300 bytes a site and step. */
  trafficMinutesKeptMs: 24 * 3_600_000,
  trafficHoursKeptMs: 90 * 24 * 3_600_000,
  /** Steps of traffic that one batch of counts forgets. */
  trafficForgottenMax: 500,
  /** Rankings by the hour: how long they are kept, values of each, and characters of a value. */
  rankingsKeptMs: 7 * 24 * 3_600_000,
  rankedValuesMax: 100,
  rankedCharactersMax: 256,
  /** Values of one ranking that an answer lists, and how many where nobody asks for more. */
  answeredValuesMax: 100,
  answeredValues: 10,
  /** A text in the key of a counter that a node sends. */
  countedTextCharsMax: 512,
  /** Counts of APIs by 10 seconds: how long they are kept, and names in one row. */
  detectionKeptMs: 8 * 24 * 3_600_000,
  detectionNamesMax: 20_000,
  /** Samples of one kind of violation, some 150 bytes each, and kinds of one site that have any. */
  violationSamplesMax: 10,
  sampledKindsMax: 500,
  /** Load of nodes by minute and by hour; some 500 bytes a step. */
  loadMinutesKeptMs: 2 * 24 * 3_600_000,
  loadHoursKeptMs: 30 * 24 * 3_600_000,
  /** Steps of load that a new one forgets. */
  loadForgottenMax: 100,
  /** Points of one series. */
  seriesPointsMax: 2_000,
  /** Sites of which it is known how often their endpoints changed; then all count as changed. */
  changedSitesMax: 20_000,
  /** Sites whose details one answer annotates. */
  annotatedSitesMax: 200,
  /** Different values counted in one ranking, some 20 MB; of more the rarest are evicted. */
  summaryKeysMax: 100_000,
  /** Clients that a filter by country may stand for: some 400 KB of a question. */
  countryClientsMax: 10_000,
  /** Families of attacks counted of one address; rulesets know some twenty. */
  tagsOfAddressMax: 200,
} as const;

/** Evidence of requests: headers and bodies. */
export const evidenceStoreLimits = {
  /** Bytes of all evidence; new evidence past it is kept without content. */
  quotaBytes: 2 * 1024 * 1024 * 1024,
  /** Bytes of a body that are stored, read and sent together. */
  bodyPieceBytes: 64 * 1024,
  /** Bytes of one body; nodes capture no more. */
  bodyBytesMax: 32 * 1024 * 1024,
  /** Header fields of one request; heads of 64 KB hold fewer. */
  headerFieldsMax: 20_000,
  /** The body of an answer, which comes with what announces the upload. */
  answerBodyBytesMax: 32 * 1024,
  /** What announces one upload: its header fields and what is known of the request. */
  manifestBytesMax: 512 * 1024,
  /** A body in one piece up to this size waits for its commit in memory; others go to disk. */
  wholeBodyBytesMax: 256 * 1024,
  /** One message of records; nodes send about a quarter. */
  recordsBytesMax: 1024 * 1024,
  /** Messages of records of one stream that wait for the disk; nodes send half as many. */
  recordsWaitingMax: 8,
  /** The id of a request, which is part of a key. */
  requestIdCharsMax: 512,
  /** Uploads that one stream has open; nodes open half as many. */
  openUploadsMax: 64,
  /** Answers of one stream that its node has not taken; then nothing more is read from it. */
  answersWaitingMax: 128,
  /** Bodies of which a part is kept until the rest comes: of one node, of all, and for how long. */
  partialPerNodeMax: 64,
  partialBytesPerNodeMax: 128 * 1024 * 1024,
  partialMax: 4_096,
  partialBytesMax: 512 * 1024 * 1024,
  partialKeptMs: 6 * 3_600_000,
  /** Evidence that one write removes. */
  forgottenPerWrite: 100,
  /** Requests with one id that are looked at: clients may choose ids. */
  sameRequestIdMax: 100,
} as const;

/** Keys that evidence is encrypted with. */
export const evidenceKeyLimits = {
  /** AES-256. */
  keyBytes: 32,
  /** Age at which a new key is taken: random nonces of one key must not meet (NIST SP 800-38D). */
  rotateAfterMs: 30 * 24 * 3_600_000,
  /** How long a key is kept after its last use; evidence is kept for a year at most. */
  keptAfterMs: 367 * 24 * 3_600_000,
  /** Keys in the file, and how many of them people may have made: a year needs 14 by itself. */
  keysMax: 64,
  byHandMax: 48,
  /** Pieces of evidence before each key that are looked at for keys that are gone. */
  lookedAtMax: 16,
  /** Values, and about their bytes, that one write encrypts of what was kept in clear. */
  sealedAtOnce: 200,
  sealedBytesAtOnce: 4 * 1024 * 1024,
} as const;

/** How the fill of the log store is measured and judged. */
export const storageHealthLimits = {
  /** Interval of measurements, and of the samples that are kept. */
  measureEveryMs: 60_000,
  everyMs: 10 * 60_000,
  /** Growth is measured over at most this time: it covers the rhythm of a day. */
  windowMs: 24 * 3_600_000,
  /** An estimate from less is none; one from less than the second is preliminary. */
  preliminaryAfterMs: 10 * 60_000,
  readyAfterMs: 6 * 3_600_000,
  /** Details stop below this share of the disk, or below the bytes where the disk is large. */
  criticalShare: 0.05,
  criticalBytes: 1024 * 1024 * 1024,
  warningShare: 0.15,
  warningBytes: 8 * 1024 * 1024 * 1024,
  /** A disk that lasts for less is worth a warning. */
  warningRemainingMs: 3 * 24 * 3_600_000,
  /** Details come back once there is more room by this factor: the state must not flicker. */
  recoveryFactor: 1.5,
} as const;

/** What metrics hold, and who reads them. */
export const metricLimits = {
  /** Samples of one family, some 150 bytes each. */
  originsMax: 2_000,
  certificatesMax: 2_000,
  sitesMax: 2_000,
  ruleHitsMax: 2_000,
  /** Connections of scrapers, and how long a request of one may take. */
  scrapersMax: 16,
  scrapeTimeoutMs: 10_000,
} as const;
