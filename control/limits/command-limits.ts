/** The bounds of the `waf` command and of the processes it starts. */

/** The `waf` command and its test runner. */
export const commandLineLimits = {
  /** A ModSecurity set-up with its rule set: some 80 files, 3 MB. */
  importFilesMax: 2_000,
  importBytesMax: 67_108_864,
  /** Pages of 200 rules; a rule set has some 700 rules. */
  importRulePagesMax: 100,
  /** Entries of an IP list sent in one call; some 6 MB. */
  importBatchEntries: 50_000,
  /** The authority that a controller shows to machines that enroll. */
  bootstrapBytesMax: 65_536,
  /** A file of settings. */
  configBytesMax: 65_536,
  /** A file or standard input that a command reads; the API takes 16 MiB a request. */
  inputBytesMax: 64 * 1024 * 1024,
  /** The JSON of one request that a command sends as it stands, bytes; what the API takes. */
  requestBytesMax: 16 * 1024 * 1024,
  /** Diagnostics of an API document that are printed; the rest is counted. */
  diagnosticsShownMax: 50,
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
  /** A call that waits for a language model; operators give it at most ten minutes. */
  modelTimeoutMs: 620_000,
  /** A replay of as many requests as one run takes. */
  replayTimeoutMs: 1_800_000,
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
  /** Longest time between two pages of `waf dashboard --watch`. */
  watchSecondsMax: 86_400,
  /** One cell of a table; more is cut. */
  cellCharactersMax: 72,
  /** One value of a resource that is shown with all its fields; more is cut. */
  detailCharactersMax: 4_000,
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
