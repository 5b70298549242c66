/** A ruleset that inspects beside that of a policy for some time. Pure. */

import type { PolicyRecord } from '../records.ts';

/** The last run of a policy; the id is the policy's. */
export interface ShadowRunRecord {
  readonly id: string;
  /** Names the counts of this run. */
  readonly runId: string;
  readonly tenantId: string;
  /** The policy's when the run began; under another one nothing is compared. */
  readonly currentRulesetId: string;
  readonly crsRulesetId: string;
  /** RFC 3339. */
  readonly startedAt: string;
  /** RFC 3339; nodes stop by themselves then. */
  readonly endsAt: string;
  /** Of 100 requests, how many are compared; absent in records of before: all. */
  readonly sharePercent?: number;
  /** Nodes do not get it any more. */
  readonly stopped: boolean;
}

/** Suffix of the id of the policy that inspects beside another. */
export const shadowSuffix = '~shadow';

/** Whether nodes get a run. */
export function isPublished(
  { stopped, currentRulesetId }: ShadowRunRecord,
  { crsRulesetId }: Pick<PolicyRecord, 'crsRulesetId'>,
): boolean {
  return !stopped && currentRulesetId === crsRulesetId;
}
