/** The bounds of learning which signs are ordinary content of a site. */

/** What is kept, proposed, and done without a person. */
export const detectionLearningLimits = {
  /** Values and families of one site that are kept; those of the fewest clients go. */
  valuesPerSiteMax: 512,
  /** Hours of sketches that a value keeps. */
  hoursKept: 48,
  /** Bits of a sketch, as nodes make them. */
  sketchBits: 2_048,
  /** Requests that are named as samples of a value. */
  samplesMax: 5,
  /** Hours that proposals look back. */
  windowHours: 24,
  /** Clients and hours from which on something is proposed. */
  proposedClients: 10,
  proposedHours: 3,
  /**
   * Clients and hours from which on a site with `auto` acts. More than half of 100: whoever has 100
   * networks for a day can be these clients once.
   */
  actingClients: 51,
  actingHours: 6,
  /** Contents of one site that it learned by itself and that are in force. */
  actingMax: 16,
  /** How long what a person accepted holds, and what a site learned by itself, days. */
  acceptedDays: 90,
  actingDays: 30,
  /** Longest time that a person may choose, days. */
  acceptedDaysMax: 366,
  /** Decisions of one site that are kept. */
  decisionsMax: 256,
  /** How often sites with `auto` are looked at. */
  tickMs: 60_000,
} as const;
