/**
 * The test files that borrow a running product (`shared-product.ts`). They run in one process after
 * the other, next to each other, so that one start serves several of them.
 */

/**
 * Folders whose test files load much of the product, which costs a second of CPU each, and leave
 * nothing in it: they run in one process after the other, too.
 */
export const sharesModules: readonly string[] = [
  'test/agree/',
  'test/seclang/',
  'test/schema/',
  'test/identity/',
  'test/http/',
];

/** Paths from the root, in the order in which they run; those that leave a change come last. */
export const sharesProducts = [
  'test/e2e/trust.test.ts',
  'test/e2e/alerts.test.ts',
  'test/e2e/dead-origin.test.ts',
  'test/e2e/siem.test.ts',
  'test/e2e/policy-import.test.ts',
  'test/e2e/verifier.test.ts',
  'test/e2e/policy-import-judged.test.ts',
  'test/e2e/api-import.test.ts',
  'test/e2e/log-policy.test.ts',
];
