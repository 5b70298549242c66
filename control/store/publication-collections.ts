/**
 * The collections on policies and what nodes said of their artifacts: which are held back, and
 * which artifact of each was accepted last.
 */

import type { Collection } from './collection.ts';

/** A policy whose newest artifact a node refused. */
export interface HeldPolicyRecord {
  /** The policy's id, with its site's where it is a site's own variant. */
  readonly id: string;
  /** The refused artifact, SHA-256 in hex: another one is tried. */
  readonly sha256: string;
  /** Configuration that it came with. */
  readonly revision: string;
  /** What is wrong, with file and line. */
  readonly error: string;
  /** RFC 3339. */
  readonly since: string;
}

/** The artifact of a policy that a node accepted last, with the ruleset that it includes. */
export interface GoodPolicyRecord {
  /** As that of the held policy. */
  readonly id: string;
  /** SHA-256 in hex. */
  readonly sha256: string;
  readonly policyBlob: string;
  /** Id of the ruleset's piece; '' when the policy includes none. */
  readonly rulesetId: string;
  /** '' when the policy includes none. */
  readonly rulesetBlob: string;
}

/** Policies that are held back. */
export const heldPolicies: Collection<HeldPolicyRecord> = { name: 'held-policies', indexes: {} };

/** Artifacts that policies fall back to. */
export const goodPolicies: Collection<GoodPolicyRecord> = {
  name: 'good-policies',
  indexes: {},
  blobs: ({ policyBlob, rulesetBlob }) => [policyBlob, rulesetBlob].filter((name) => name !== ''),
};
