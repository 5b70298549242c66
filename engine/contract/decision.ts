/** What may refuse a request by its content. Plain data. */

/** The ways to decide, in the order in which people read of them. */
export const decisions = [
  /** The anomaly score of the rules. Nothing else runs. */
  'crs',
  /** The score of detection; rules count as signs of it. */
  'score',
  /** Either. */
  'both',
  /** The anomaly score, where the score of detection confirms it. */
  'scoreConfirms',
] as const;

/** One of them. */
export type Decision = (typeof decisions)[number];
