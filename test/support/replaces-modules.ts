/**
 * The test files that replace modules of the product, or plant something in one that it reads once:
 * they run in processes of their own, over the sources. Unit tests share processes, one file after
 * another, over the compiled product.
 */

/** Paths from the root. */
export const replacesModules = [
  'control/access/outgoing.test.ts',
  'control/api/enforcement-notes.test.ts',
  'test/identity/proofs.test.ts',
  'test/fuzz/foreign-reads.test.ts',
  'test/backends/canary.test.ts',
  'test/backends/content-type-canary.test.ts',
];
