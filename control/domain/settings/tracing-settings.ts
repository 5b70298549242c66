/** What an installation decides about traces; nodes get it with their log policies. */

/** Which requests nodes sample for traces. */
export interface TracingSettings {
  /** Share of requests whose client decides nothing, 0 to 1. */
  readonly ratio: number;
  /** The `sampled` flag of clients that a trust profile proves decides for them. */
  readonly parents: boolean;
  /** Sampled requests of one second, all threads of a node together. */
  readonly perSecond: number;
}
