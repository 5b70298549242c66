/**
 * Which test files have a process of their own, and which borrow a running product
 * (`shared-product.ts`): these run in one process after the other, next to each other, so that one
 * start serves several of them.
 */

/**
 * The test files that measure the process they run in: its memory, threads or sockets. Each has one
 * of its own, where collecting garbage takes no time for what other files left. All others come
 * after one another in processes that loaded the product once.
 */
export const ownProcesses = [
  'native-bindings/memory.test.ts',
  'native-bindings/threads.test.ts',
  'test/fault/pool-shares.test.ts',
  'test/fault/proxy-soak.test.ts',
  'test/fuzz/rpc.test.ts',
];

/** Those that borrow, in the order in which they run; those that leave a change come last. */
export const sharesProducts = [
  'test/e2e/trust.test.ts',
  'test/e2e/alerts.test.ts',
  'test/e2e/dead-origin.test.ts',
  'test/e2e/siem.test.ts',
  'test/e2e/manifest-reload.test.ts',
  'test/e2e/policy-import.test.ts',
  'test/e2e/verifier.test.ts',
  'test/e2e/policy-import-judged.test.ts',
  'test/schema/api-product.test.ts',
  'test/e2e/exclude-cut-body.test.ts',
  'test/e2e/crs-update.test.ts',
  'test/e2e/api-import.test.ts',
  'test/e2e/log-policy.test.ts',
];
