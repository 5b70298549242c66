/**
 * Compiled databases and plans as threads hand them to each other: cloneable data, the bytes in
 * memory that all threads share. Never compiles or attaches one.
 */

/** A database: serialized, or unpacked in memory that threads share. */
export type DatabaseImage = Uint8Array | SharedArrayBuffer;

/** What one group came to, with its databases in shared memory; cloneable. */
export interface SharedGroup {
  readonly modes: readonly ExpressionMode[];
  readonly tiers: readonly CompiledTier[];
}

/** How an expression could be compiled: as it is, as an over-approximation, or not at all. */
export type ExpressionMode = 'exact' | 'prefilter' | 'refused';

/** A tier serves values whose bytes all lie in `allowedMask`; null where nothing can match. */
export interface CompiledTier<Image = DatabaseImage> {
  readonly allowedMask: number;
  /** For values scanned one by one: one for each part of the patterns, or one for all of them. */
  readonly databases: readonly (Image | null)[];
  /** For values scanned together, a line each. */
  readonly lines: Image | null;
  /** For those of them in which `guard` finds something; both are null or neither. */
  readonly guarded: Image | null;
  readonly guard: Image | null;
}

/** A linked plan as `engine/rules/plan` wrote it. */
export interface SharedPlan {
  readonly plan: SharedArrayBuffer;
}

/** Anything that was made once and is attached by every thread. */
export type SharedImage = SharedGroup | SharedPlan;

/** Databases by the cache key of their group, plans by `planName`. */
export type SharedImages = ReadonlyMap<string, SharedImage>;

/** The name of a policy's plan among shared images. */
export function planName(policyKey: string): string {
  return `plan:${policyKey}`;
}
