/**
 * What front threads count where it outlives a killed process, so that the next run can say
 * how much of it was never stored. Plain data.
 */

/** What is counted, in the order of a thread's slot. */
export const tallyFields = ['requests', 'blocked', 'facts'] as const;

/**
 * Places of a thread's slot; eight, so that no two threads write one line of a processor's cache.
 */
export const tallySlotLength = 8;

/** Finished requests, blocked ones among them, and security events that were handed on. */
export type TallyCounts = Readonly<Record<(typeof tallyFields)[number], number>>;

/** Where a thread finds its slot. */
export interface TallyPlace {
  readonly path: string;
  readonly slot: number;
}

/** The counts of this run and of those before it. */
export interface RunTally {
  /** Names this run; nothing else has the name. */
  readonly run: string;
  readonly path: string;
  /** What an earlier run counted; null where nothing legible is left of it. */
  earlier(run: string): TallyCounts | null;
  /** What this run has counted so far. */
  current(): TallyCounts;
  /** Removes what is left of earlier runs. */
  forgetEarlier(): void;
}

/** No counts. */
export const emptyTally: TallyCounts = { requests: 0, blocked: 0, facts: 0 };
