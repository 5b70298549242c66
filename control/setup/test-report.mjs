/** What the runner's JSON report says: counts. A test that failed is not run again. */

/**
 * Counts of a report: {passed, failed, skipped}. A file that does not load has no tests to fail: it
 * counts as one.
 */
export function readReport({ testResults, ...counts }) {
  const broken = testResults.filter(
    ({ status, assertionResults }) =>
      status === 'failed' && assertionResults.every((one) => one.status !== 'failed'),
  ).length;
  return {
    passed: counts.numPassedTests,
    failed: counts.numFailedTests + broken,
    skipped: counts.numPendingTests + counts.numTodoTests,
  };
}
