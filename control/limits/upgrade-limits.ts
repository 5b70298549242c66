/** The bounds of upgrade runs. */

/** Runs, their waves, and what a node may take. */
export const upgradeLimits = {
  /** Nodes of one run; a request names as many. */
  nodesMax: 1_000,
  /** The first wave has one node, each later one twice as many, up to this: half the downloads. */
  waveNodesMax: 16,
  /** From the start of a wave; a download may take 15 minutes, a trial 5, draining 1. */
  nodeDeadlineMs: 30 * 60 * 1000,
  /** How often a run looks for nodes that did not answer in time. */
  lookEveryMs: 1_000,
  /** What a node says of a failure. */
  errorCharactersMax: 500,
  /** Runs that are kept; the oldest that ended go first. */
  runsKept: 200,
  /** Readers of one run. */
  readersMax: 64,
} as const;
