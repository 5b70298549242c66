/**
 * The door between inspection and detection: values in, leaves with what detectors found in them
 * out. Plain data; `engine/policies` fills it.
 */

import type { Hit } from './detector.ts';
import type { SignFacts } from './score.ts';
import type { Weights } from './weights.ts';

/** A value of a request, as it came or decoded once. */
export interface DetectedValue {
  /** As people read it: `args.q`. */
  readonly path: string;
  /** The bytes from `start` to `end`; all of them where these are left out. */
  readonly bytes: Uint8Array;
  readonly start?: number;
  readonly end?: number;
  /** A name of an argument or file: it is searched even where it has letters and dots only. */
  readonly isName?: boolean;
  /** A body that nothing reads as fields: of binary data only its texts are searched. */
  readonly isData?: boolean;
}

/** A leaf in which something was found. */
export interface DetectedLeaf {
  /** Index of the value that it is a leaf of. */
  readonly value: number;
  /** For example `args.q → base64`. */
  readonly path: string;
  readonly bytes: Uint8Array;
  /** It was found by opening the value; rules of the ruleset do not see it. */
  readonly opened: boolean;
  readonly hits: readonly Hit[];
}

/** What was found in the values of a request. */
export interface Detected {
  /** Leaves with hits, in the order of the values. */
  readonly leaves: readonly DetectedLeaf[];
  /** False where a limit kept a part of the values from being opened. */
  readonly complete: boolean;
  /** The leaves decided before all values were searched. */
  readonly settled: boolean;
}

/** Receives each leaf with hits, and returns whether those that follow change nothing. */
export interface Decider {
  /** Whether the leaves so far decide, so that no more are searched. */
  decides(leaf: DetectedLeaf): boolean;
}

/** What a policy scores with. */
export interface Detection {
  readonly weights: Weights;
  /** For leaves that rules do not see: the points where there is no ruleset. */
  readonly openedWeights: Weights;
  readonly facts: SignFacts;
  /** Limits: `detectLimits`. Without a decider all values are searched. */
  detect(values: readonly DetectedValue[], decider: Decider | null): Detected;
  /** What a detector proves, as the predicate of a sentence; '' for ids of others. */
  proves(id: number): string;
  /** Whether a detector finds addresses. */
  findsAddresses(id: number): boolean;
}
