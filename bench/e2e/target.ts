/**
 * What a target is: one proxy with one configuration that takes part in every round. Never knows
 * how a particular product is configured.
 */

import type { Expectation } from './workload.ts';

/** Who it is and how it is compared. */
export interface TargetFacts {
  readonly name: string;
  readonly title: string;
  /**
   * Which answer of a workload's request it must give; null: whatever it gives when asked first.
   */
  readonly expectation: Expectation | null;
  /** Name of the target that ratios are taken to; null for none. */
  readonly baseline: string | null;
}

/** A target that runs. */
export interface Target extends TargetFacts {
  readonly host: string;
  readonly port: number;
  /** Its processes are this one and its descendants. */
  readonly pid: number;
}

/** What a target's starter needs. */
export interface Surroundings {
  /** A folder of this target alone; readable by the servers' own users. */
  readonly folder: string;
  readonly port: number;
  readonly originPort: number;
  readonly workers: number;
  readonly connections: number;
  /** Host name that requests carry. */
  readonly host: string;
  /** Command words that pin a process to its CPUs; empty for none. */
  readonly prefix: readonly string[];
}
