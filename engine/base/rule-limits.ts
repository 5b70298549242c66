/**
 * Owns the bounds of what is read of one request and of what rules make of it, as limits.ts does
 * for all else.
 */

/** Values a transaction is inspected over: heads, bodies and what is decoded of them. */
export const valueLimits = {
  /** Shorter beginnings of a compressed body that are tried where it grows beyond its limit. */
  decodeTriesMax: 12,
  /**
   * Bytes of a body past the inspection limit that policies still inspect, where excess does not
   * block. Reading ends there; what follows is forwarded, and the event records it.
   */
  bodyExcessBytesMax: 1_048_576,
  /** Arguments inspected one by one, past the policy's limit too; a megabyte of JSON has fewer. */
  argumentRowsMax: 65_536,
  /** Text that no parser reads is inspected in windows of this size and overlap. */
  rawWindowBytes: 16_384,
  rawOverlapBytes: 1_024,
  /** Shorter runs of text among binary data are no text. */
  rawRunBytesMin: 16,
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
  /** Elements of one XML document, with their nesting; libxml2 stops at 256 too. */
  xmlElementsMax: 50_000,
  xmlDepthMax: 256,
  /** Attributes of one XML document. */
  xmlAttributesMax: 10_000,
  /** Nodes one XPath selector may visit. */
  xpathVisitsMax: 200_000,
  /** Text of what one XPath selector yields; elements inside each other repeat theirs. */
  xpathTextCharsMax: 8_388_608,
  /** Parts of one multipart body; the arguments limit is lower in practice. */
  multipartPartsMax: 2_000,
  /** Header lines of one part. Browsers send two. */
  multipartPartHeadersMax: 64,
  /** One header line of a part; ModSecurity's buffer has the same size. */
  multipartHeaderBytesMax: 4_096,
  /** Names that backends may give one part beside the first; its content is searched under each. */
  multipartPartNamesMax: 16,
  /** Boundary of a multipart body. Source: RFC 2046 section 5.1.1. */
  multipartBoundaryBytesMax: 70,
  /** Content-Type of a multipart request. */
  multipartContentTypeBytesMax: 1_024,
  /** Cookies of one request; browsers keep 180 a site. */
  cookiesMax: 1_000,
} as const;

/** What rules may make of one transaction while they run. */
export const ruleRunLimits = {
  /** Evaluations between two looks at the clock; a regex at its limits takes 10 ms. */
  evaluationsPerLook: 16,
  /** TX names per regex selector whose answer is remembered; CRS makes some hundred. */
  rememberedNamesMax: 1024,
  /** Courses of phases worked out ahead per policy and thread; traffic takes some ten. */
  memoizedStatesMax: 64,
  /** Values per @rx whose answer is remembered, and bytes of each; header lines come again. */
  rememberedValuesMax: 16,
  rememberedValueBytesMax: 512,
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
  /** Names of fields whose being secret a thread remembers, and characters of the longest. */
  secretNamesKept: 1_024,
  secretNameCharsKept: 64,
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
  /** Building one pattern and searching with it; CRS's slowest takes half a second. */
  patternMs: 10_000,
  /** One trial; the 700 patterns of a whole rule set take ten seconds on an idle core. */
  trialMs: 120_000,
  /** Memory of the trial process; CRS takes 200 MB. */
  residentBytesMax: 1_073_741_824,
  residentPollMs: 50,
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
