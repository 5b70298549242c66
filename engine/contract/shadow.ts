/** A ruleset that inspects beside the one that decides, and how they compare. Plain data. */

/** What a site runs beside its policy. */
export interface ShadowConfig {
  readonly runId: string;
  /** The same policy with the other ruleset. */
  readonly policyId: string;
  /** Nothing is compared from then on, milliseconds since the Unix epoch. */
  readonly untilMs: number;
  /** Of 100 requests, how many are compared. */
  readonly sharePercent: number;
}

/** How two decisions about one request compare. */
export const shadowOutcomes = [
  'both_passed',
  'both_blocked',
  /** Only the ruleset that decides blocks, or would in detection. */
  'only_current',
  /** Only the other ruleset would block. */
  'only_new',
  /** One of them did not see all of the request, or failed. */
  'not_compared',
  /** The second inspection was spared. */
  'not_selected',
] as const;
/** One of them. */
export type ShadowOutcome = (typeof shadowOutcomes)[number];

/** A request about which the rulesets disagree. No query, field or body of it. */
export interface ShadowExample {
  readonly outcome: ShadowOutcome;
  readonly requestId: string;
  readonly method: string;
  readonly path: string;
  /** Rules that added to the score, else the one that decides, of the ruleset that blocks. */
  readonly ruleIds: readonly number[];
}

/** What was compared of one site since the last delta. */
export interface ShadowDelta {
  readonly siteId: string;
  readonly runId: string;
  readonly counts: ReadonlyMap<ShadowOutcome, number>;
  readonly examples: readonly ShadowExample[];
}

/** Families of these counts, on their way to control. */
export const shadowFamily = 'shadow_counts';
export const shadowExampleFamily = 'shadow_examples';
