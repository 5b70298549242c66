/**
 * Owns the bound of every queue, buffer, cache, recursion and loop over input: one object a room,
 * one line a limit with its unit in the name and the reason beside it. Never reads configuration.
 */

/** Rule files: what the SecLang parser and the linker accept. */
export const seclangLimits = {
  /** One rule file. CRS's longest is 0.2 MB. */
  fileBytesMax: 16 * 1024 * 1024,
  /** One directive with its continuation lines. CRS's longest is 20 KB. */
  logicalLineBytesMax: 1024 * 1024,
  /** Targets of one rule, or ids of one SecRuleRemoveById. CRS uses up to 20. */
  variablesMax: 1024,
  /** Actions of one rule. CRS uses up to 60. */
  actionsMax: 1024,
  /** Diagnostics kept of one rule set; enough to read, too few to fill memory. */
  diagnosticsMax: 1000,
  /** Files including files; real sets nest three deep. */
  includeDepthMax: 16,
  /** Files of one rule set, counted at each inclusion. CRS has 40. */
  filesMax: 4096,
  /** Rules with chain links of one program. CRS 4 has 700. */
  rulesMax: 100_000,
  /** Links of one chain; matching descends them one by one. CRS's longest chain has 4. */
  chainLinksMax: 64,
} as const;
