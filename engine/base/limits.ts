/**
 * Owns the bound of every queue, buffer, cache, recursion and loop over input: one object a room,
 * one line a limit with its unit in the name and the reason beside it. Never reads configuration.
 * Those of the management plane stand in control-limits.ts, of guards in guard-limits.ts,
 * of rules and values in rule-limits.ts.
 */

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

/** HTTP/1.x messages, from clients and from origins. */
export const httpLimits = {
  /** Start line and fields; twice what common servers take, so that rules see it first. */
  headBytesMax: 65_536,
  /** Longer request targets get 414. */
  targetBytesMax: 16_384,
  /** Room for method, protocol and blanks beside the target in a request line. */
  requestLineExtraBytes: 256,
  /** More header fields get 431. */
  fieldsMax: 200,
  /** Empty lines before a start line; RFC 9112 section 2.2 asks for at least one. */
  leadingEmptyLinesMax: 2,
  /** Names in Connection; each costs a comparison with every field. */
  connectionTokensMax: 16,
  /** Decimal digits of a Content-Length; stays within exact integers. */
  contentLengthDigitsMax: 15,
  /** Hexadecimal digits of a chunk size, leading zeros included. */
  chunkSizeDigitsMax: 12,
  /** Extensions of one chunk; they are thrown away. */
  chunkExtensionBytesMax: 256,
  /** Size lines of one body beyond as much as its content has: work without a purpose. */
  chunkOverheadBytesMax: 65_536,
  /** One trailer section; trailers are thrown away. */
  trailerBytesMax: 8_192,
} as const;

/** One HTTP/2 connection. Source: RFC 9113 section 10.5, CVE-2023-44487, CVE-2025-8671. */
export const http2Limits = {
  /** Requests at one time; what RFC 9113 section 6.5.2 calls the least to offer. */
  streamsMax: 100,
  /** Content of one request that may be on its way before the request took it. */
  streamWindowBytes: 65_535,
  /** The same of all requests of a connection. */
  connectionWindowBytes: 1_048_576,
  /** What one answer may have waiting for its client. */
  queueBytesMax: 65_536,
  /** Acknowledgements of pings and settings that wait to be sent. */
  outboundAcksMax: 100,
  /** Frames that serve nobody (pings, settings, resets, empty data, tiny window updates). */
  uselessFramesMax: 2_000,
  uselessFramesPerSecond: 50,
  /** A request that its client gives up, or is made to end, counts as this number of them. */
  framesPerCancelledRequest: 10,
  /** What one write to a socket may hold. */
  outBytes: 65_536,
} as const;

/** Client connections, per front thread. */
export const frontLimits = {
  /** More are closed when accepted. */
  connectionsMax: 20_000,
  /** Larger request bodies get 413. */
  requestBodyBytesMax: 1_073_741_824,
  /** Input kept while a request is served; past it the socket is not read. */
  heldInputBytesMax: 65_536,
  /**
   * Unfinished heads, held bodies and held answers of all clients of a thread; past it those whose
   * they are get 503. Room for two thousand bodies of the usual inspection limit.
   */
  heldBytesMax: 268_435_456,
  /**
   * What one client (an IPv4 address or an IPv6 /64) and one site may hold of it, as multiples of
   * what is left then: a client at most half of all, a site two thirds, many together never all.
   */
  heldClientShare: 1,
  heldSiteShare: 2,
  /** What a client may hold whatever others hold: one usual body. */
  heldClientBytesMin: 131_072,
  /** An inspected answer up to this size is sent in one piece; a larger one in such pieces. */
  releasedAtOnceBytesMax: 32_768,
  releasedPieceBytes: 65_536,
  /** Held bodies are gathered in slabs of this size, or of the size announced up to the other. */
  heldSlabBytes: 16_384,
  heldAnnouncedBytesMax: 131_072,
  /** Slabs that a thread keeps for the next bodies. */
  heldFreeBytesMax: 1_048_576,
  /** Read into by all client sockets of a thread; one read takes no more. */
  readBufferBytes: 65_536,
  /** Pipelined requests begun in one turn before other connections get theirs. */
  pipelineBurstMax: 32,
  /** One slab of output memory; it serves many small writes. */
  outputSlabBytes: 262_144,
  /** First byte of a head to its last; slow heads get 408. */
  headTimeoutMs: 15_000,
  /** Idle between requests. */
  keepAliveTimeoutMs: 60_000,
  /** No byte of an expected request body; 408. */
  bodyProgressTimeoutMs: 30_000,
  /** The client takes nothing of its answer. */
  sendProgressTimeoutMs: 60_000,
  /** Head complete to answer sent; endless transfers end here. */
  requestTotalTimeoutMs: 600_000,
  /** The client closed its side: how long its answer may pause. */
  halfCloseGraceMs: 1_000,
  /** A WebSocket on which neither side sends; its programs send pings more often. */
  websocketIdleMs: 300_000,
  /** After an early answer the rest of the body is read and discarded: for how long, how much. */
  lingerTimeoutMs: 2_000,
  lingerBytesMax: 1_048_576,
  /** How often deadlines are looked at; their precision. */
  sweepIntervalMs: 250,
  /** Graceful stop: when what is left is cut. */
  drainTimeoutMs: 30_000,
  /** A client that was accepted just before the drain: its first request is on its way. */
  drainFirstRequestMs: 1_000,
  /** Offered to clients with TLS; without TLS browsers do not speak it. */
  http2: true,
  /** Target, host or user agent kept in an event. */
  eventTextBytesMax: 2_048,
  /** Texts of an event that are looked through for secrets, and secrets that it is cleaned of. */
  eventSecretTextsMax: 256,
  eventSecretsMax: 64,
  /** Events a thread sends in one message, their bytes, and the longest wait for them. */
  eventBatchMax: 256,
  eventBatchBytesMax: 256 * 1024,
  eventBatchDelayMs: 20,
  /** Messages on their way before the main thread has taken one: what it does between its turns. */
  eventBatchesSentMax: 4,
  /** Bytes of waiting events in a thread; past half, matches kept per event, one value each. */
  eventQueueBytesMax: 4 * 1024 * 1024,
  eventMatchesShortened: 8,
  /** Pause before a thread collects the garbage of an old generation. */
  collectDelayMs: 1_000,
  /** Interval at which front threads send their counts. */
  counterIntervalMs: 250,
  /** Interval at which they send rankings; paths and programs of a site in one, about 6 KB. */
  rankingIntervalMs: 2_000,
  rankedValuesMax: 128,
  /** Methods and protocols ranked; there are fewer, but for made-up ones. */
  rankedNamesMax: 16,
  /** Characters of a ranked path or program; longer ones are ranked by these. */
  rankedCharactersMax: 256,
  /** Before a front thread that died is replaced; doubles with each death. */
  threadRestartPauseMs: 100,
  threadRestartPauseMaxMs: 5_000,
} as const;

/** TLS towards clients, per front thread. */
export const tlsLimits = {
  /** A client's first message; browsers send up to 2 KB. */
  helloBytesMax: 16_384,
  /** From the first byte to the end of the handshake. */
  handshakeTimeoutMs: 10_000,
  /** Certificates whose context is kept, some 20 KB each; others are made again, 0.3 ms. */
  contextsMax: 2_000,
  /** How long a session can be resumed. */
  sessionSeconds: 7_200,
  /** How often the keys of session tickets are replaced: what a stolen key can open. */
  ticketRotationMs: 12 * 3_600_000,
  /** Answers to authorities at one time: names of one order, times orders under way. */
  acmeTokensMax: 1_000,
} as const;

/** Writes of one turn of the event loop, per front thread. */
export const turnLimits = {
  /** More for one socket is written at once; below what it takes before it asks to wait. */
  waitingBytesMax: 8_192,
  /** Sockets that wait at most: the first waits no longer than the work on the others takes. */
  waitingPiecesMax: 32,
} as const;

/** Origin connections, per front thread. */
export const upstreamLimits = {
  connectionsPerEndpointMax: 256,
  /** Requests waiting for a connection; more get 503. */
  waitingPerEndpointMax: 1_024,
  /** Longest wait for a connection; 503. */
  queueTimeoutMs: 5_000,
  /** Connections kept open without a request. */
  idlePerEndpointMax: 64,
  /** Below the usual 60 s and 75 s of origins, so that we close first. */
  idleTimeoutMs: 30_000,
  /** We close this long before the timeout that an origin names in Keep-Alive, or at half of it. */
  idleMarginMs: 1_000,
  /** TCP and TLS together; 504. */
  connectTimeoutMs: 5_000,
  /** Request sent to response head; 504. */
  firstByteTimeoutMs: 60_000,
  /** No byte of an expected response body. */
  readProgressTimeoutMs: 60_000,
  /** One read; the buffer is shared by all origin sockets of a thread. */
  readBufferBytes: 65_536,
  /** Larger pieces of a streamed body are copied to one buffer of the thread to be sent. */
  pooledCopyBytesMax: 4_000,
  /** 1xx answers before the final one. */
  interimResponsesMax: 16,
  /** Shortest pause before a request that reached no address is tried again. */
  retryIntervalMsMin: 50,
  /** Probes of one address: redirects followed, and bytes of the answer that are looked at. */
  probeRedirectsMax: 3,
  probeBodyBytesMax: 65_536,
  /** Probes under way at one time; more wait. */
  probesAtOnceMax: 64,
  /** A probe that has to wait tries again after this. */
  probeWaitMs: 200,
  /** A new pool is probed once at each address; the longest such probe. */
  firstProbeTimeoutMs: 3_000,
  /** Origins that fail: interval of the line in the log, and origins that it names. */
  originLogEveryMs: 60_000,
  originsLoggedMax: 20,
  /** Failing addresses that are remembered, and how long after their last failure. */
  originsWatchedMax: 10_000,
  originForgottenMs: 600_000,
  /** How long an endpoint that refused is tried last. */
  downAfterFailureMs: 3_000,
  /** Endpoints or connections tried for one request. */
  attemptsMax: 3,
} as const;

/** Runtime bundles and the link to control. */
export const bundleLimits = {
  /** One encoded bundle; CRS 4 with its data files has 1.3 MB. */
  bundleBytesMax: 128 * 1024 * 1024,
  /** Files of one ruleset or policy; CRS 4 has 60. */
  filesMax: 4_096,
  sitesMax: 100_000,
  policiesMax: 10_000,
  /** Path routes of one site. */
  routesMax: 1_000,
  /** Pieces of one configuration, and all of them together. */
  partsMax: 200_000,
  partsBytesMax: 1024 * 1024 * 1024,
  /** Pieces asked for in one call. */
  partsPerFetch: 2_000,
  /** Pieces written at the same time: each waits for the disk. */
  partWritersMax: 8,
} as const;

/** Making and keeping configurations. */
export const publishLimits = {
  /** Changes within this time become one publication. */
  gatherMs: 15,
  /** How long building pieces takes before others get their turn. */
  sliceMs: 4,
  /** Attempts to build in slices while others write; the next builds in one go. */
  buildAttemptsMax: 3,
  /** Longest such wait, where publishing itself takes long. */
  gatherMaxMs: 250,
  /** Rows of publications. */
  publicationsKept: 1_000,
  /** Signed indexes of publications; one of a thousand sites has some 30 KB. */
  indexesKept: 50,
  /** Bundles whose pieces nodes may fetch: a node that lags still finds the one it was sent. */
  bundlesOffered: 16,
  /** Rows past their bound that go with one publication, where the bound was larger once. */
  publicationsForgottenMax: 50,
  /** What a publication says of policies that are held back. */
  heldNoteCharactersMax: 4_000,
  /** Pieces that a node asks for in one call. */
  partsPerCallMax: 10_000,
} as const;

/** The stream between an engine and its controller. */
export const linkLimits = {
  /** Facts waiting on disk for an acknowledgement; the oldest are dropped and counted. */
  factBytesMax: 128 * 1024 * 1024,
  /** Access events, sampled ones and errors waiting likewise. */
  accessBytesMax: 128 * 1024 * 1024,
  accessSampleBytesMax: 32 * 1024 * 1024,
  errorBytesMax: 32 * 1024 * 1024,
  /** Counts waiting likewise; some 100 bytes a site and period. */
  counterBytesMax: 64 * 1024 * 1024,
  /** Batches waiting of one stream; what is known of each stays in memory. */
  spoolBatchesMax: 20_000,
  /** Batches that wait in memory while the disk takes none. */
  spoolMemoryBytesMax: 16 * 1024 * 1024,
  /** Batches that pass before a disk that refuses is asked again; doubles up to here. */
  spoolPausedWritesMax: 64,
  /** Gaps of one stream that wait for an acknowledgement; adjacent ones are merged. */
  gapsMax: 1_000,
  /** Counts of a period leave together. */
  counterDelayMs: 250,
  /** How long the engine waits at its end for control to receive what waits. */
  closeWaitMs: 1_000,
  /** Facts of one batch, and about their bytes. */
  batchFactsMax: 500,
  batchBytesMax: 256 * 1024,
  /** Longest wait before a batch that is not full leaves. */
  batchDelayMs: 100,
  /** Batches sent and not yet acknowledged. */
  batchesInFlightMax: 8,
  /** Matches of one request that travel; the rest is counted. */
  matchesMax: 64,
  /** Rules whose texts are kept encoded, and what is kept of one, in characters. */
  ruleTextsMax: 1_024,
  ruleTextBytesMax: 4_096,
  /** One matched value; the rest is cut. */
  matchedValueBytesMax: 512,
  /** Findings of a policy that an answer to a configuration names. */
  findingsMax: 10,
  /** Variables of one match that travel. */
  matchedVariablesMax: 8,
  /** Waits between attempts to connect: first, and longest. */
  reconnectMinMs: 100,
  reconnectMaxMs: 5_000,
  /** Silence after which the stream counts as dead; pings come far more often. */
  silenceMs: 45_000,
  /** Pings and state reports. */
  reportIntervalMs: 15_000,
  /** One message of the engine service. */
  messageBytesMax: 160 * 1024 * 1024,
} as const;

/** Inspection in worker threads. */
export const poolLimits = {
  /**
   * Operations waiting for one worker; beyond it the newest one of the longest flow is given up,
   * and its site's fail policy decides.
   */
  queuedOperationsMax: 4096,
  /** Operations in one message; larger batches gain nothing (0.9 us an item at 32). */
  batchOperationsMax: 64,
  /** Bytes of bodies in one message: answers come together, small ones do not wait for large. */
  batchBodyBytesMax: 131_072,
  /** What one client of a site may have inspected before others have their turn. */
  fairQuantumBytes: 65_536,
  /** What an operation costs beside the bytes that it carries: a head, a turn of the rules. */
  operationCostBytes: 8_192,
  /** Open transactions in one worker; each holds some 50 KB. */
  sessionsPerWorkerMax: 8192,
  /** Bodies up to here are inspected on the front's own thread when the place is `auto`. */
  inlineBodyBytesMax: 65_536,
  /**
   * Inspection of one step must have answered by then. It may have to wait for one other step,
   * which takes up to `requestBudgetMs` and is not broken off, and then take as long itself.
   */
  deadlineMs: 5000,
  /** CPU time that the inspection of one request may take in all phases together. */
  requestBudgetMs: 2000,
  /** A worker must have a policy ready by then; a warm CRS takes one second on a busy core. */
  loadDeadlineMs: 30_000,
  /** Deadlines after which a worker still busy with one batch counts as dead and is replaced. */
  stuckAfterDeadlines: 2,
} as const;

/** What the engine keeps on disk. */
export const stateLimits = {
  /** Compiled databases; one policy at paranoia level 4 takes 20 MB. */
  databaseCacheBytesMax: 1024 * 1024 * 1024,
  /** Persistent collections of all sites. */
  collectionsBytesMax: 1024 * 1024 * 1024,
  /** The file of what waits for control; above the bounds of all streams, for LMDB's own pages. */
  spoolMapBytesMax: 768 * 1024 * 1024,
  /** How long changed collections gather for one transaction; a power cut loses no more. */
  collectionsBatchMs: 20,
  /** Pause before a batch that the disk refused is tried again. */
  collectionsRetryMs: 1000,
  /** Changed collections that wait while the disk refuses; beyond it the oldest is given up. */
  collectionsWaitingMax: 10_000,
  /** Values of one collection; CRS uses five. */
  collectionValuesMax: 256,
  /** Characters of a collection's key; LMDB's own bound is 1978 bytes. */
  collectionKeyCharsMax: 480,
} as const;

/** The file of finished requests (`waf engine --events`). */
export const eventFileLimits = {
  /** Bytes that wait for the disk; beyond it lines are lost, counted. */
  waitingBytesMax: 8 * 1024 * 1024,
  /** Pause before a file that could not be written is opened again. */
  retryMs: 5000,
} as const;

/** Choosing requests that are kept in detail, in one front thread. */
export const loggingLimits = {
  /** Kinds of request (paths, rules) with a reservoir in a window, some 150 bytes each. */
  sampledKindsMax: 20_000,
  /** Characters of a path that make its kind. */
  kindCharsMax: 128,
  /** How long windows of sites without traffic are kept; the longest window is an hour. */
  windowsKeptMs: 3_600_000,
} as const;

/** Lines in the log for requests that failed; those past the bound of a period are counted. */
export const errorLineLimits = { linesMax: 20, periodMs: 10_000 } as const;

/** The access log's own file. */
export const accessLogLimits = {
  /** Size at which the file is set aside, in MB: what an operator may ask for. */
  rotateMbMax: 1_048_576,
  /** Files set aside: without a word, and at most. Each rotation renames all of them. */
  keepDefault: 5,
  keepMax: 100,
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
  /** Outputs of one value's transformations together; inspection of what needs more fails. */
  arenaBytesMax: 64 * 1024 * 1024,
  /**
   * Values of up to 64 bytes whose hits a plan remembers, in one thread; a quarter as many of 256,
   * an eighth of 512 and a thirty-second of 2,048 bytes, as session tokens have. Some 700 KB when
   * all are taken.
   */
  memoEntries: 2_048,
  /** Longer values are scanned each time (`kValueMax` in native-bindings/scan-memo.h). */
  memoValueBytesMax: 2_048,
} as const;

/** The engine's composition. */
export const engineLimits = {
  /** Policies kept compiled in the main thread for simulations. */
  simulatedPoliciesMax: 4,
  /** Outcomes of planning that are remembered. */
  plannedPoliciesMax: 4096,
  /** Length of the slices in which a serving thread builds a policy; requests run between them. */
  buildSliceMs: 2,
  /** Threads that make policies ready: one that is quick does not wait for one that is not. */
  plannerThreadsMax: 2,
  /** When a policy takes longer to compile, the others serve first. */
  interimAfterMs: 300,
  /** Planner threads end after this long without work; each weighs 25 MB. */
  plannerIdleMs: 10_000,
  /** Delay before freed memory is returned in one go: threads have collected by then. */
  trimDelayMs: 3_000,
  /** Interval of idle detection in threads; a thread is idle below this share of time at work. */
  idleCheckEveryMs: 5_000,
  idleShare: 0.1,
  /** Work since the last collection that makes another, which costs 10 ms, worthwhile. */
  idleWorthMs: 2_000,
  /** Interval for the whole process, longer: its threads have collected by then. */
  idleProcessCheckEveryMs: 15_000,
  /** Interval at which pages of the spool that were read are released. */
  pagesEveryMs: 15_000,
  /** How long the main thread waits at the end for threads and the link. */
  stopDeadlineMs: 12_000,
} as const;

export { guardLimits, rateLimits } from './guard-limits.ts';
export {
  blockListLimits,
  failureLogLimits,
  patternTrialLimits,
  planLimits,
  ruleRunLimits,
  valueLimits,
} from './rule-limits.ts';
export {
  accessLimits,
  commandLineLimits,
  controlLimits,
  doctorLimits,
  patternLimits,
  storeLimits,
  supervisorLimits,
  yamlLimits,
} from './control-limits.ts';
