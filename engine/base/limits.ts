/**
 * The bounds of the engine's configuration, threads and files; of the other rooms see the files
 * `*-limits.ts` beside it, of the management plane `control/limits`. One object a room, one line a
 * limit with its unit in the name and the reason beside it. They never read configuration.
 */

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
  /** API checks of one site, bytes of JSON; a document of 2,000 operations has about 6 MB. */
  apiChecksBytesMax: 48 * 1024 * 1024,
  /** Endpoints of one site that learn, as JSON. */
  apiLearningBytesMax: 4 * 1024 * 1024,
  /** What one site learned of signs that are content, bytes. */
  detectionContentBytesMax: 1024 * 1024,
} as const;

/** Examples of decisions that two rulesets do not share. */
export const shadowLimits = {
  /** Of one site, between two reports of a thread. */
  examplesMax: 5,
  methodCharactersMax: 16,
  pathCharactersMax: 256,
  /** Rules that an example names. */
  rulesMax: 10,
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
  /**
   * Larger bodies are inspected in steps of one scan of at most this size, or of one class of rules
   * over a larger value; others have their turns between them.
   */
  stepBytes: 65_536,
  /** What a row costs beside its bytes, so that a step of tiny values is no longer than others. */
  stepRowBytes: 16,
  /** Steps of one request that run together: a request has few turns, and each is short. */
  sliceMs: 5,
  /** Open transactions in one worker; each holds some 50 KB. */
  sessionsPerWorkerMax: 8192,
  /** Bodies up to here are inspected on the front's own thread when the place is `auto`. */
  inlineBodyBytesMax: 65_536,
  /**
   * Larger bodies have a thread of their own, which others do not wait for: a step of theirs is one
   * class of rules over all of a value, and takes 0.3 s and more of 13 MB. Up to here it takes some
   * milliseconds of usual text.
   */
  sharedBodyBytesMax: 262_144,
  /**
   * How far the priority of that thread lies below the others' (nice): it gets what they leave, and
   * a ninth of a core where they leave nothing. In Linux each thread has a priority of its own.
   */
  largeBodyNiceness: 10,
  /**
   * Inspection of one phase must have answered by then. It may have to wait for a step of another,
   * which takes up to `requestBudgetMs`, and then take as long itself.
   */
  deadlineMs: 5000,
  /**
   * Time that the inspection of one request may take in all phases together: CPU time in a thread
   * of the pool, time by the clock on a front thread, which others wait for.
   */
  requestBudgetMs: 2000,
  /** A worker must have a policy ready by then; a warm CRS takes one second on a busy core. */
  loadDeadlineMs: 30_000,
  /** Deadlines after which a worker still busy with one batch counts as dead and is replaced. */
  stuckAfterDeadlines: 2,
} as const;

/**
 * When a front thread counts as overloaded. The bounds lie far above what a busy machine shows: to
 * inspect less is the last resort.
 */
export const overloadLimits = {
  /** Interval of the timer whose lateness is the delay of the event loop. */
  tickMs: 100,
  /** Length of a sample; its shortest waits count. */
  sampleMs: 500,
  /**
   * Lateness of the event loop that no request escapes. A request has several turns: where each is
   * so late, 4,000 clients at once waited 4 s on average. On a busy machine it stays below 20 ms.
   */
  loopDelayMs: 400,
  /** Wait in the pool that no operation escapes; a fifth of its deadline. */
  poolWaitMs: 1000,
  /** Share of the budget of held bytes. */
  heldShare: 0.9,
  /** Samples in a row before inspection is shed, and before its share halves again: 2 s. */
  hotSamples: 4,
  /**
   * Samples in a row before more is tried again: 1 s. What opens thousands of connections at once
   * is over in seconds, and a wait while more is tried sheds again at once.
   */
  calmSamples: 2,
  /** Factor of the share of inspected requests with each calm sample: 3 s from 1 %. */
  growth: 4,
  /** Percent of requests that are inspected when shedding begins, and at least. */
  firstPercent: 50,
  leastPercent: 1,
} as const;

/** What the engine keeps on disk. */
export const stateLimits = {
  /** Compiled databases; one policy at paranoia level 4 takes 20 MB. */
  databaseCacheBytesMax: 1024 * 1024 * 1024,
  /** Persistent collections of all sites. */
  collectionsBytesMax: 1024 * 1024 * 1024,
  /** The file of what waits for control; above the bounds of all streams, for LMDB's own pages. */
  spoolMapBytesMax: 768 * 1024 * 1024,
  /** How long what control has waits for a batch to be removed with; a kill sends it once more. */
  spoolRemovesDelayMs: 500,
  /** The tally of one run; 64 bytes a front thread. */
  tallyBytesMax: 1024 * 1024,
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

/** Requests of a thread that wait until the policy of their site is compiled. */
export const enginePolicyWait = {
  /** A policy whose databases are not cached compiles for some seconds on a busy machine. */
  waitMs: 60_000,
  /** A waiting request has a connection and the copy of its head. */
  requestsMax: 1_000,
  /** Those that begin in one turn of the event loop. */
  resumedAtOnce: 8,
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
  /** Planner threads but the first end after this long without work; each weighs 25 MB. */
  plannerIdleMs: 10_000,
  /** The first planner thread ends this much later: changes of a policy often come in rows. */
  plannerRestMs: 60_000,
  /** Interval at which what nobody waits for looks whether planner threads have become idle. */
  plannerPollMs: 250,
  /** Policies planned because they will be asked for; some 300 KB each, and new databases. */
  plannedAheadMax: 2,
  /** Delay before freed memory is returned in one go: threads have collected by then. */
  trimDelayMs: 3_000,
  /** Interval of idle detection; the process is idle below this share of time at work. */
  idleProcessCheckEveryMs: 15_000,
  idleShare: 0.1,
  /** Work since memory was last returned that makes it worthwhile again. */
  idleWorthMs: 2_000,
  /** Interval at which pages of the spool that were read are released. */
  pagesEveryMs: 15_000,
  /** How long the main thread waits at the end for threads and the link. */
  stopDeadlineMs: 12_000,
} as const;
