/**
 * Owns the bounds of the management plane and of the `waf` command, as limits.ts owns the others:
 * one line a limit with its unit in the name and the reason beside it.
 */

/** The management plane: requests, queues and what is kept. */
export const controlLimits = {
  /** A write that failed with less than this left on the disk failed because the disk is full. */
  diskFreeBytesMin: 1024 * 1024,
  /** Nesting of a JSON request; deeper ones are refused before they are parsed further. */
  jsonDepthMax: 64,
  /** One request message; documents and archives are the largest. */
  requestBytesMax: 16 * 1024 * 1024,
  /** One request message that can hold neither files nor long lists. */
  smallRequestBytesMax: 2 * 1024 * 1024,
  /** Items of one list in a request whose field has no rule of its own. */
  listItemsMax: 10_000,
  /** Commas, colons and brackets of one JSON request; a million addresses have three each. */
  jsonValuesMax: 4_000_000,
  /** Questions to the engine at once; it turns away what would wait too long. */
  engineCallsMax: 64,
  /** Open connections of one entrance. */
  connectionsMax: 1_100,
  /** How long the rest of a request refused early is read and discarded. */
  lingerMs: 2_000,
  /** Answers kept for retries with the same idempotency key; the oldest are dropped. */
  keptAnswersMax: 10_000,
  /** Calls of one session on average; an idle one may send the burst at once. */
  callsPerSecond: 50,
  callBurstMax: 1_000,
  /** Requests that one HTTP/2 connection may have open. */
  streamsPerConnectionMax: 100,
  /** Connections of one address or IPv6 /64; an office with its nodes may share one. */
  connectionsPerAddressMax: 256,
  /** Those of them over which nobody signed in has called yet. */
  strangersPerAddressMax: 64,
  /** Silence after which a connection may be closed in favor of others of its address. */
  silentGraceMs: 2_000,
  /** From accepting a connection to the end of its TLS handshake. */
  handshakeTimeoutMs: 10_000,
  /** From there, or from the first byte of a later request, to the end of its head. */
  headTimeoutMs: 15_000,
  /** Time for a body, extended by what arrives at this rate, and the longest time in all. */
  bodyTimeoutMs: 30_000,
  bodyBytesPerSecondMin: 16 * 1024,
  bodyLongestMs: 1_200_000,
  /** An answer that its client does not read. */
  answerTimeoutMs: 30_000,
  /** A connection without a request. */
  idleTimeoutMs: 60_000,
  /** How often those deadlines are looked at. */
  sweepEveryMs: 1_000,
  /** PING and SETTINGS frames of one HTTP/2 connection between two looks. */
  controlFramesPerSweepMax: 64,
  /** Memory of one HTTP/2 connection in MB: heads, frames and bodies that wait to be read. */
  sessionMemoryMbMax: 4,
  /** How often the management certificate is looked at: files may change, ours may be due. */
  certificateCheckMs: 3_600_000,
  /** One PEM file of the management listener; a chain has some KB. */
  pemBytesMax: 1_048_576,
  /** Items of one page. */
  pageSizeMax: 200,
  /** Items skipped by offset; stated in the contract. */
  offsetMax: 100_000,
  /** Values of one filter of a query. */
  filterValuesMax: 200,
  /** Work on a long series of rows before other calls get their turn. */
  scanSliceMs: 5,
  /** Bytes of one part of an export; the next part continues where it ends. */
  exportPartBytesMax: 8 * 1024 * 1024,
  /** Origin addresses of one health report of a node; pools of 64 for some sites each. */
  healthReportsMax: 20_000,
  /** Certificates of authorities that a pool accepts; a company has a handful. */
  upstreamAuthoritiesMax: 64,
  /** Failing origins that a health message names. */
  originsNamedMax: 10,
  /** Events waiting for one slow reader of the tail; more are skipped and counted. */
  tailWaitingMax: 1_000,
  /** Entries of an IP list that a plan shows; longer lists are shown by their length. */
  diffEntriesMax: 500,
  /** What a node says of a configuration that it could not apply. */
  applyErrorCharactersMax: 4_000,
  /** Messages waiting for one node; past it the stream ends and the node connects anew. */
  nodeWaitingMax: 1_024,
  /** Enrolments of a second factor that wait for their code. */
  enrollmentsMax: 1_000,
  /** Challenges that wait for their answer. */
  challengesMax: 10_000,
  /** How often a stream looks whether its session still stands. */
  sessionCheckMs: 1_000,
  /** Sessions of one user; the oldest end. */
  sessionsPerUserMax: 50,
  /** Browser sign-ins that wait for their identity provider. */
  pendingLoginsMax: 10_000,
  /** Identity providers of one kind, RADIUS servers, and roles or groups that one provider maps. */
  identityProvidersMax: 20,
  radiusServersMax: 8,
  providerRolesMax: 64,
  /** One RADIUS packet, RFC 2865 section 3. */
  radiusPacketBytesMax: 4_096,
  /** Rounds of challenge and answer with a RADIUS server in one sign-in. */
  radiusRoundsMax: 5,
  /** One call of an OpenID provider. */
  oidcTimeoutMs: 10_000,
  /** One answer of an OpenID provider; discovery documents have 5 KB. */
  oidcAnswerBytesMax: 1024 * 1024,
  /** Groups of one person that are looked at. */
  providerGroupsMax: 1_000,
  /** Visits of sign-in pages from one address in a minute; an office may share one. */
  signInVisitsPerMinute: 300,
  /** Form that a browser carries here from a SAML identity provider. */
  samlFormBytesMax: 512 * 1024,
  /** Depth of that form's XML; responses have ten. The library's time grows with the square. */
  samlDepthMax: 32,
  /** Its elements and attributes; a person in a thousand groups has 1,100. */
  samlElementsMax: 1_500,
  samlAttributesMax: 2_000,
  /** Responses from one address in a minute; each may cost a quarter of a second. */
  samlResponsesPerMinute: 120,
  /** Different outcomes, statuses or reasons counted of one site. */
  countedKeysMax: 2_000,
  /** Characters of a site's or policy's id in counts. */
  countedNameCharsMax: 200,
  /** Wrong proofs that keep an address out for a user, and second factors that lock the account. */
  lockAfterFailures: 5,
  /** Wrong passwords from any addresses that lock an account for addresses it does not know. */
  lockAccountAfterFailures: 25,
  lockMs: 15 * 60_000,
  /** Addresses remembered of one user: with failures, and with sign-ins. */
  signInOriginsMax: 32,
  knownOriginsMax: 8,
  /** Sign-ins in a minute: of one address, and of one user from addresses it does not know. */
  signInsPerAddressMax: 10,
  signInsPerUserMax: 100,
  /** Users and addresses whose attempts are counted. */
  attemptKeysMax: 10_000,
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
  scanHereMs: 30,
  /** That thread weighs 40 MB: without a question for so long, it ends. */
  scanThreadIdleMs: 10_000,
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
  /** Addresses set aside for a store: without, each doubling keeps the old map and its pages. */
  storeMapBytes: 16 * 1024 * 1024 * 1024,
  /** Interval at which pages of stores that were read are released. */
  memoryCareEveryMs: 15_000,
  /** Idle is a smaller share of time at work; work that makes a collection worthwhile. */
  idleShare: 0.1,
  idleWorthMs: 2_000,
  /** A geo database when unpacked; free country sets have 8 MB. A request bounds uploads. */
  geoDatabaseBytesMax: 128 * 1024 * 1024,
  /** Fetching one; the largest free ones have some 60 MB packed. */
  geoFetchTimeoutMs: 300_000,
  /** Traffic by minute is kept for a day, by hour for 90 days; some 300 bytes a site and step. */
  trafficMinutesKeptMs: 24 * 3_600_000,
  trafficHoursKeptMs: 90 * 24 * 3_600_000,
  /** Steps of traffic that one batch of counts forgets. */
  trafficForgottenMax: 500,
  /** Rankings by the hour: how long they are kept, values of each, and characters of a value. */
  rankingsKeptMs: 7 * 24 * 3_600_000,
  rankedValuesMax: 100,
  rankedCharactersMax: 256,
  /** Load of nodes by minute and by hour; some 500 bytes a step. */
  loadMinutesKeptMs: 2 * 24 * 3_600_000,
  loadHoursKeptMs: 30 * 24 * 3_600_000,
  /** Steps of load that a new one forgets. */
  loadForgottenMax: 100,
  /** Points of one series. */
  seriesPointsMax: 2_000,
  /** Different values counted in one ranking. */
  summaryKeysMax: 100_000,
  /** An archive when unpacked; a CRS release has 15 MB. */
  archiveBytesMax: 256 * 1024 * 1024,
  /** Entries of an archive. */
  archiveEntriesMax: 50_000,
  /** One file of a ruleset. */
  rulesetFileBytesMax: 16 * 1024 * 1024,
  /** Rulesets whose rules are kept described, about 3 MB each. */
  describedRulesetsMax: 4,
  /** Entries of an IP list that a custom rule matches one by one; bindings have no such bound. */
  ruleListEntriesMax: 10_000,
  /** Saved versions of one policy; the oldest go. */
  versionsMax: 500,
  /** Exclusion plugins that are kept; the CRS project has eight. */
  exclusionPluginsMax: 200,
  /** Uses of exclusion plugins by one policy. */
  pluginBindingsMax: 100,
  /** Files of a ruleset; CRS 4 has 60. */
  rulesetFilesMax: 4_096,
  /** Documents of one manifest. */
  manifestDocumentsMax: 1_000,
  /** One manifest. */
  manifestBytesMax: 16 * 1024 * 1024,
  /** One key of the store; LMDB takes 1978 bytes. */
  storeKeyBytesMax: 1_900,
  /** Custom rules of one policy. */
  customRulesMax: 1_000,
  /** Overrides of one policy. */
  ruleOverridesMax: 2_000,
  /** Path routes of one site; each request compares with the longest first. */
  routesPerSiteMax: 200,
  /** Certificates of a tenant. */
  certificatesMax: 10_000,
  /** One PEM text of a certificate, key or chain element. */
  certificateTextBytesMax: 64 * 1024,
  /** Certificates between a site's and the root. */
  certificateChainMax: 10,
  /** Accounts at DNS providers. */
  dnsProvidersMax: 200,
  /** Tags of one node, and tags or nodes that one group names. */
  agentSelectorsMax: 1_000,
  /** Groups of nodes. */
  agentGroupsMax: 1_000,
  /** Resources written by one bulk call. */
  bulkMax: 500,
} as const;

/** Regular expressions of custom rules, with their counts written out. */
export const patternLimits = {
  /** Parts; RE2 and PCRE2 refuse programs not far above it. CRS's largest patterns have 5,000. */
  sizeMax: 20_000,
  /** One count; RE2 takes no more. */
  countMax: 1_000,
  /** Groups in groups; PCRE2 takes 250. */
  depthMax: 100,
} as const;

/** Documents of YAML and JSON that people and programs hand in. */
export const yamlLimits = {
  /** Tokens of one text: some 5 us each to parse. 50,000 entries of an IP list have a million. */
  tokensMax: 2_000_000,
  /** Keys of one text. */
  keysMax: 250_000,
  /** Values of one document, those that aliases repeat included. */
  valuesMax: 500_000,
  aliasesMax: 100,
  documentsMax: 1_000,
  /** Levels of nesting; documents of ours have ten. */
  depthMax: 64,
  keyCharactersMax: 1_024,
  /** Reading one manifest in its thread, and memory of that thread in MB. */
  readTimeoutMs: 60_000,
  threadMemoryMbMax: 1_024,
  /** Manifests that wait while one is read. */
  waitingMax: 8,
} as const;

/** The store of the management plane, its backups and their checks. */
export const storeLimits = {
  /** How long a transaction that is made in slices works before others get their turn. */
  sliceMs: 4,
  /** Attempts to make it in slices while others write; the next is made in one go. */
  stepAttemptsMax: 3,
  /** Decoded records kept in memory, counted as JSON; a thousand sites have 2 MB. */
  cachedBytesMax: 32 * 1024 * 1024,
  /** Listeners for changes; parts of the process listen, not its clients. */
  listenersMax: 256,
  /** Broken audit rows that one check names. */
  auditBreaksMax: 1_000,
  /** Problems that one check of a store names; the rest is counted. */
  problemsMax: 200,
  /** One piece of a value in a backup; longer values take several lines. */
  backupPieceBytes: 1024 * 1024,
  /** One line of a backup: a piece in base64 with a key. */
  backupLineBytesMax: 2 * 1024 * 1024,
  /** One value in a backup; an unpacked ruleset is the largest. */
  backupValueBytesMax: 512 * 1024 * 1024,
  /** Files of the data folder in a backup, their number, size and depth; keys and certificates. */
  backupFilesMax: 10_000,
  backupFileBytesMax: 64 * 1024 * 1024,
  backupDepthMax: 8,
  /** Bytes that a restore writes in one transaction. */
  restoreBatchBytes: 8 * 1024 * 1024,
} as const;

/** IP lists, what fills them, and rules of access. */
export const accessLimits = {
  /** Entries of one list. */
  listEntriesMax: 1_000_000,
  /** Lists of one installation. */
  listsMax: 2_000,
  /** Entries that Get shows with a list; more are read page by page. */
  shownEntriesMax: 1_000,
  /** Texts. */
  nameCharsMax: 128,
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

/** What `waf doctor` measures an installation by. */
export const doctorLimits = {
  /** Less space on the data folder's disk is an error: writes begin to fail. */
  diskErrorBytes: 64 * 1024 * 1024,
  /** Less is a warning. Events of a busy day and compiled databases take as much. */
  diskWarningBytes: 2 * 1024 * 1024 * 1024,
  /** Less free inodes is a warning. */
  inodesWarning: 1_000,
  /** Less memory than CRS at paranoia level 4 needs with two threads, both programs together. */
  memoryErrorBytes: 384 * 1024 * 1024,
  memoryWarningBytes: 1024 * 1024 * 1024,
  /** Each client connection takes a descriptor, and one more towards the origin. */
  descriptorsError: 1_024,
  descriptorsWarning: 8_192,
  /** Share of the descriptors in use above which a process is close to its end. */
  descriptorsUsedShare: 0.8,
  /** A certificate that ends earlier is a warning; one that ended is an error. */
  certificateWarningMs: 21 * 24 * 3_600_000,
  /** How far the clock may lag the last write: what a time server corrects. */
  clockBehindMs: 5_000,
  /** Files named in one finding. */
  namedMax: 5,
  /** Loading the addon in a process of its own. */
  addonTimeoutMs: 20_000,
} as const;

/** `waf run`: the processes it starts. */
export const supervisorLimits = {
  /** First wait before a child that died is started again; doubles each time. */
  firstRestartDelayMs: 250,
  longestRestartDelayMs: 10_000,
  /** A child that lived this long counts as healthy: the next wait is the first again. */
  healthyAfterMs: 30_000,
  /** A first start compiles every rule database. */
  startTimeoutMs: 600_000,
  /** From the ready messages of both children to success of /readyz. */
  readinessTimeoutMs: 30_000,
  readinessPollMs: 50,
  /** The engine drains its connections before it goes; then it is ended by force. */
  stopGraceMs: 15_000,
  /** Children of a supervisor that was killed go by themselves; their ports are free by then. */
  leftOverMs: 5_000,
  /** Front threads, each with a socket and some 60 MB of its own. */
  workersMax: 256,
  /** Path of a Unix socket: the kernel takes 108 bytes with the final NUL. */
  socketPathBytesMax: 107,
  /** One body that the demo origin takes. */
  demoBodyBytesMax: 65_536,
} as const;

/** The `waf` command and its test runner. */
export const commandLineLimits = {
  /** A ModSecurity set-up with its rule set: some 80 files, 3 MB. */
  importFilesMax: 2_000,
  importBytesMax: 67_108_864,
  /** Pages of 200 rules; a rule set has some 700 rules. */
  importRulePagesMax: 100,
  /** Entries of an IP list sent in one call; some 6 MB. */
  importBatchEntries: 50_000,
  /** A file of settings. */
  configBytesMax: 65_536,
  /** A file or standard input that a command reads; the API takes 16 MiB a request. */
  inputBytesMax: 64 * 1024 * 1024,
  /** Attempts at a change while others change the same. */
  changeAttemptsMax: 8,
  /** After a change: how long a publication is waited for, and its being served. */
  publishNoticeMs: 400,
  servingWaitMs: 60_000,
  /** Interval at which the node is polled, and the wait after which a notice is printed. */
  servingPollMs: 50,
  servingNoticeMs: 1_000,
  /** One call of the management API. */
  callTimeoutMs: 30_000,
  /** A call for which the engine compiles rules it has not seen. */
  longCallTimeoutMs: 300_000,
  /** A call that takes longer prints a notice, and repeats it at this interval. */
  callNoticeMs: 3_000,
  /** Applying a manifest: each changed policy is compiled first. */
  applyTimeoutMs: 600_000,
  /** The file with sessions. */
  credentialsBytesMax: 1024 * 1024,
  /** A lock on that file older than a call can take belongs to a command that died. */
  lockStaleMs: 40_000,
  lockPollMs: 50,
  /** One line that a person types. */
  typedCharactersMax: 4_096,
  /** One cell of a table; more is cut. */
  cellCharactersMax: 72,
  /** What a template of a test file may expand to. */
  templateBytesMax: 1_000_000,
  /** One request that the reflecting origin takes. */
  originRequestBytesMax: 16 * 1024 * 1024,
  /** What is kept of one answer of the proxy under test. */
  answerBytesMax: 4 * 1024 * 1024,
  /** One line of the event file, and one read of it. */
  eventLineBytesMax: 16 * 1024 * 1024,
  eventReadBytes: 1024 * 1024,
  /** How often the event file is looked at. */
  eventPollMs: 5,
  /** The engine under test has no traffic when it is stopped. */
  testEngineStopMs: 5_000,
} as const;
