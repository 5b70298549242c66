/** The bounds of rule files, of what is read of one request, and of what rules make of it. */

/** Tag of rules that limit the files of a request: they refuse wherever in a body files stand. */
export const uploadLimitTag = 'limit-uploads';

/** Rule files: what the SecLang parser and the linker accept. */
export const seclangLimits = {
  /** One rule file. CRS's longest is 0.2 MB. */
  fileBytesMax: 16 * 1024 * 1024,
  /** One directive with its continuation lines. CRS's longest is 20 KB. */
  logicalLineBytesMax: 1024 * 1024,
  /** Targets of one rule, or ids of one SecRuleRemoveById. CRS uses up to 20. */
  variablesMax: 1024,
  /** Actions of one rule. CRS uses up to 60. */
  actionsMax: 1024,
  /** Diagnostics kept of one rule set; enough to read, too few to fill memory. */
  diagnosticsMax: 1000,
  /** Files including files; real sets nest three deep. */
  includeDepthMax: 16,
  /** Files of one rule set, counted at each inclusion. CRS has 40. */
  filesMax: 4096,
  /** Rules with chain links of one program. CRS 4 has 700. */
  rulesMax: 100_000,
  /** Links of one chain; matching descends them one by one. CRS's longest chain has 4. */
  chainLinksMax: 64,
} as const;

/** Searching values: regular expressions, transformations, scan programs. */
export const matchLimits = {
  /** Patterns whose RE2 spelling is remembered; two rule sets have 1,000. */
  translatedPatternsMax: 4096,
  /** PCRE2's own count of match steps; about 10 ms, then the rule counts as not matched. */
  pcreMatchLimit: 500_000,
  /** PCRE2's own count of nested backtracking points where its JIT does not run. */
  pcreDepthLimit: 20_000,
  /** Captures handed out: the whole match and TX.1 to TX.9. */
  capturesMax: 10,
  /** Matches of one rxGlobal search in one value. */
  globalMatchesMax: 1_000,
  /** Values searched for one pattern at once, joined; fewer are searched one by one. */
  joinedBytesMax: 16_384,
  joinedValuesMax: 64,
  joinedValuesMin: 4,
  /** Outputs of one value's transformations together; inspection of what needs more fails. */
  arenaBytesMax: 64 * 1024 * 1024,
  /**
   * Values of up to 64 bytes whose hits a thread remembers for each policy it has; a quarter as
   * many of 256, an eighth of 512 and a thirty-second of 2,048 bytes, as session tokens have. Some
   * 700 KB when all are taken.
   */
  memoEntries: 2_048,
  /** The same for all policies of a thread together: 6 MB. Those that are busy use the most. */
  memoEntriesMax: 16_384,
  /** Longer values are scanned each time (`kValueMax` in native-bindings/scan-memo.h). */
  memoValueBytesMax: 2_048,
} as const;

/** Values a transaction is inspected over: heads, bodies and what is decoded of them. */
export const valueLimits = {
  /** Shorter beginnings of a compressed body that are tried where it grows beyond its limit. */
  decodeTriesMax: 12,
  /**
   * Bytes of a body past the inspection limit that are inspected with what precedes them where
   * excess may block, and at most unless a policy states more where it is recorded.
   */
  bodyExcessBytesMax: 1_048_576,
  /** What follows is inspected in windows of this size, each with the end of the one before. */
  restWindowBytes: 65_536,
  restOverlapBytes: 1_024,
  /** A window that is not full by then is inspected as it is: slow clients send few bytes. */
  restWaitMs: 50,
  /** First bytes of a body that are kept to tell later windows what it is. */
  bodyBeginBytes: 4_096,
  /** Matches in windows that one event keeps; more are counted. */
  restMatchesMax: 64,
  /** Arguments inspected one by one, past the policy's limit too; a megabyte of JSON has fewer. */
  argumentRowsMax: 65_536,
  /** Text that no parser reads is inspected in windows of this size and overlap. */
  rawWindowBytes: 16_384,
  rawOverlapBytes: 1_024,
  /** A body whose first `=` comes by then, after a plain name, may be a form. */
  formNameBytesMax: 4_096,
  /** Nesting that the JSON reader follows; deeper than any `SecRequestBodyJsonDepthLimit`. */
  jsonStackMax: 65_536,
  /** Path in front of a JSON name; longer paths are cut, so that names cannot multiply a body. */
  jsonPathBytesMax: 2_048,
  /**
   * Bytes of the names of one JSON document, each with its path: allowed for any document, added
   * for each of its bytes, and allowed in all. A thousand leaves with paths of 85 bytes,
   * as in a Kubernetes manifest of 30 KB, stay below.
   */
  jsonNameBytesMin: 32_768,
  jsonNamesPerByte: 2,
  jsonNameBytesMax: 163_840,
  /** Texts inside of values that are read once more: how deep, and how long at least. */
  innerTextLevels: 2,
  innerTextBytesMin: 8,
  /** Shorter texts are words, whatever base64 makes of them. */
  base64BytesMin: 16,
  /** Frames of STOMP in one message, and the head of one; past it the text as it stands. */
  stompFramesMax: 256,
  stompHeadBytesMax: 8_192,
  /** Packets of one body or message as Engine.IO frames them; past it the text as it stands. */
  packetsMax: 1_024,
  /** What a compressed message in a query of Connect may grow to. */
  connectMessageBytesMax: 262_144,
  /** Nesting of gRPC messages; decoders of C++ and Java stop at 100. */
  grpcDepthMax: 64,
  /** Fields of the messages of one gRPC request; 128 KB have 65,536 at most. */
  grpcFieldsMax: 100_000,
  /**
   * Bytes of texts that are messages too: allowed in any request, and added for each byte of a
   * message, decompressed. Nested small messages are texts at each level.
   */
  grpcTextsMin: 65_536,
  grpcTextsPerByte: 4,
  /** Names of the fields of one gRPC request, each with its path. */
  grpcNameBytesMax: 163_840,
  /** Compressed messages of one gRPC request; each costs 20 us and more. */
  grpcCompressedMax: 256,
  /** Elements of one XML document, with their nesting; libxml2 stops at 256 too. */
  xmlElementsMax: 50_000,
  xmlDepthMax: 256,
  /** Attributes of one XML document. */
  xmlAttributesMax: 10_000,
  /** Nodes one XPath selector may visit. */
  xpathVisitsMax: 200_000,
  /** Text of what one XPath selector yields; elements inside each other repeat theirs. */
  xpathTextCharsMax: 8_388_608,
  /**
   * A multipart body is held up to this size until all of it was inspected. Of a longer one, the
   * content of files flows to the origin, and a part of what the files begin with is kept: of each
   * file, and of all of them.
   */
  multipartHeldBytesMax: 16 * 1024 * 1024,
  fileHeadBytesMax: 65_536,
  fileHeadsBytesMax: 1_048_576,
  /** Parts of one multipart body; the arguments limit is lower in practice. */
  multipartPartsMax: 2_000,
  /** Multipart types, messages and HTTP requests inside each other; SOAP and batches need three. */
  multipartDepthMax: 6,
  /** Header lines of one part. Browsers send two. */
  multipartPartHeadersMax: 64,
  /** One header line of a part; ModSecurity's buffer has the same size. */
  multipartHeaderBytesMax: 4_096,
  /** Parameters of one Content-Disposition; browsers send two. */
  multipartPartParametersMax: 8,
  /** Names that backends may give one part beside the first; its content is searched under each. */
  multipartPartNamesMax: 16,
  /** Boundary of a multipart body. Source: RFC 2046 section 5.1.1. */
  multipartBoundaryBytesMax: 70,
  /** Parameters of the Content-Type of a multipart request. */
  multipartContentTypeParametersMax: 16,
  /** Content-Type of a multipart request. */
  multipartContentTypeBytesMax: 1_024,
  /** Cookies of one request; browsers keep 180 a site. */
  cookiesMax: 1_000,
} as const;

/** What rules may make of one transaction while they run. */
export const ruleRunLimits = {
  /** Evaluations between two looks at the clock; a regex at its limits takes 10 ms. */
  evaluationsPerLook: 16,
  /** Transactions, and runners of one policy, that a thread keeps for requests to come. */
  idleTransactionsMax: 256,
  idleRunnersMax: 256,
  /** Transactions that hold more bytes of values than these; most requests have a few thousand. */
  largeTransactionsKept: 16,
  transactionBytesKept: 65_536,
  /** TX names per regex selector whose answer is remembered; CRS makes some hundred. */
  rememberedNamesMax: 1024,
  /** Courses of phases worked out ahead per policy and thread; traffic takes some ten. */
  memoizedStatesMax: 64,
  /** Values that a scan hit, from which on those that cannot match are left out together. */
  siftedValuesMin: 16,
  /** Values per @rx whose answer is remembered, and bytes of each; header lines come again. */
  rememberedValuesMax: 16,
  rememberedValueBytesMax: 512,
  /** What transformations make of the longer values of one transaction, and rules may share. */
  transformedBytesMax: 16_777_216,
  /** Names of which what was made last is kept; no path in JSON is longer (`jsonPathBytesMax`). */
  rememberedNameBytesMax: 4_096,
  /** Texts of one value that a verify operator checks; each costs a search, 10 us in 64 KB. */
  verifyCandidatesMax: 1_024,
  /** Regexes kept for one @rx with macros; CRS has none, hand-written rules a few. */
  macroRegexCacheMax: 32,
  /** Finds of one rxGlobal; only ten captures are kept. */
  rxGlobalFindsMax: 64,
  /** One TX or collection value; macros may double a value at every match. */
  variableBytesMax: 1_048_576,
  /** Variables that one transaction may set in TX or in one collection; CRS sets about 150. */
  variablesSetMax: 16_384,
  /** Rules, tags, messages or targets that ctl may take out of one transaction, each. */
  removalsMax: 4_096,
  /** Names that sanitise actions hide in one transaction. */
  sanitisedNamesMax: 1_024,
  /** Values of password-like fields that events of one request are searched for. */
  secretsMax: 64,
  /** Bytes of a body without named values that are looked through for such fields. */
  secretTextBytesMax: 65_536,
  /** Characters of one such value as written; three for each that reports show at most. */
  secretWrittenCharsMax: 6_144,
  /** Variables listed with one matched rule, and bytes shown of each. */
  reportedVariablesMax: 16,
  reportedValueBytesMax: 2_048,
  /** Rules recorded of one transaction whose patterns ran into a limit; a few need PCRE2. */
  limitedRulesMax: 64,
  /** Matched rules recorded of one transaction; more are counted, not kept. */
  matchedRulesMax: 1_024,
} as const;

/** Stacks of failed inspections in the log, per thread. */
export const failureLogLimits = {
  /** Places in the code that are distinguished; a program has few that fail. */
  placesMax: 64,
  /** A place that fails again is logged with its count after this time. */
  repeatMs: 60_000,
  stackCharactersMax: 2_000,
} as const;

/** Regular expressions on trial, before a rule that holds them is saved. */
export const patternTrialLimits = {
  /** CPU time for building one pattern and searching with it; CRS's slowest takes half a second. */
  patternCpuMs: 10_000,
  /** CPU time of one trial; the 700 patterns of a whole rule set take ten seconds. */
  trialCpuMs: 120_000,
  /** Time of one trial, however busy the machine is. */
  trialMs: 600_000,
  /** Memory of the trial process; CRS takes 200 MB. */
  residentBytesMax: 1_073_741_824,
  pollMs: 50,
  /** Trials that wait for the one that runs. */
  waitingMax: 16,
  /** Patterns known to be fine, so that a change of a policy need not build them again. */
  knownMax: 4096,
  /** Length of the values that a pattern is searched in, and their number. */
  sampleBytes: 4_096,
  samplesMax: 96,
  /**
   * CPU time of one search of such a value, the best of `searchesMax`. CRS's slowest takes 0.1 ms;
   * at this bound 64 KB take 32 ms.
   */
  searchMsMax: 2,
  searchesMax: 3,
} as const;

/** The operator's own rules of a policy together, measured before a change of them is saved. */
export const ruleSetTrialLimits = {
  /** Fewer rules, links of chains and actions are not measured; setting up CRS takes some 20. */
  directivesMin: 48,
  /**
   * Directives that may come or change until a set that was measured is measured again, as a share
   * of it: saving rules one by one builds a large set a few dozen times, not a thousand.
   */
  changedShare: 0.05,
  /** Policies whose measured rules are remembered. */
  policiesMax: 256,
  /** Sets of which is kept, over restarts, that they are quick: 22 bytes each. */
  knownMax: 4_096,
  /**
   * CPU time that all rules together may add to one usual request, the best of `runsMax`. 500
   * patterns take 0.1 to 0.4 ms, 500 rules that all match 11 ms.
   */
  requestMsMax: 5,
  runsMax: 12,
  /** CPU time for building all rules together; 500 patterns take two to five seconds. */
  buildCpuMs: 60_000,
  /** Measurements that wait for the one that runs. */
  waitingMax: 16,
} as const;

/** Making plans. */
export const planLimits = {
  /**
   * Databases that a planner compiles at once, each with up to 200 MB while it does; two halve the
   * time, and more would take the cores of those that serve.
   */
  compileThreadsMax: 2,
} as const;

/** DNS block lists (`@rbl`), off unless the operator names zones. */
export const blockListLimits = {
  /** Zones that may be asked; a request may name several of them. */
  zonesMax: 16,
  /** Concurrent queries of one thread; past it, a later request queries the address. */
  asksMax: 64,
  /** A name server that has not answered by then lists nothing. */
  timeoutMs: 2000,
  /** How long an answer is valid; lists change by the hour. */
  answerSeconds: 300,
  /** Answers kept in one thread, some 100 bytes each; the oldest goes first. */
  answersMax: 20_000,
} as const;
