/** A fault in counting or reporting finished requests. Plain data. */

/** The part of reporting a finished request that failed. */
export type FactPart = 'event' | 'counts' | 'log_policy' | 'evidence' | 'delivery';

/** Faults of one part since they were last drained. */
export interface FactFault {
  readonly part: FactPart;
  readonly count: number;
  /** The first one, for the log of this machine. */
  readonly message: string;
}
