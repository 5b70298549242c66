/** How an origin reads names with brackets in queries and forms. */

/** `none`: as any name; `php`, `qs`: `n[]`, `n[0]` and `n` are one name. */
export type ArrayNames = (typeof arrayNames)[number];

/** All of them, the standard first. */
export const arrayNames = ['none', 'php', 'qs'] as const;
