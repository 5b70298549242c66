/**
 * The door between inspection and detection: values in, leaves with what detectors found in them
 * out. Plain data; `engine/policies` fills it.
 */

import type { SignFacts } from './score.ts';
import type { Weights } from './weights.ts';

/** A value of a request, as it came or decoded once. */
export interface DetectedValue {
  /** As people read it: `args.q`. */
  readonly path: string;
  readonly bytes: Uint8Array;
}

/** What a detector found. */
export interface DetectedHit {
  /** Id of the detector. */
  readonly id: number;
  /** Byte offsets in the leaf. */
  readonly start: number;
  readonly end: number;
}

/** A leaf in which something was found. */
export interface DetectedLeaf {
  /** Index of the value that it is a leaf of. */
  readonly value: number;
  /** For example `args.q → base64`. */
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly hits: readonly DetectedHit[];
}

/** What a policy scores with. */
export interface Detection {
  readonly weights: Weights;
  readonly facts: SignFacts;
  /** Leaves with hits, in order. Limits: `detectLimits`. */
  detect(values: readonly DetectedValue[]): readonly DetectedLeaf[];
  /** What a detector proves, as the predicate of a sentence; '' for ids of others. */
  proves(id: number): string;
}
