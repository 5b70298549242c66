/**
 * Cases of the field corpus that the product does not pass, each with the reason. A case that
 * passes must leave this table: the test fails while it stands here.
 */

/** Name of the case to the reason. */
export const knownFailures: Readonly<Record<string, string>> = {};
