/** What the runner's JSON report says: counts, failed tests, and files to run once more. */

import { relative } from 'node:path';

/** More failed files than this are no matter of chance: none of them is run again. */
export const mostRerunFiles = 3;

/**
 * Counts of a report: {passed, failed, skipped, failedFiles}. `failedFiles` has a row for each file
 * with a failure: {file, tests}, names relative to `root`. A file that does not load has no tests
 * to fail: it counts as one.
 */
export function readReport(report, root) {
  const failedFiles = report.testResults
    .filter(({ status }) => status === 'failed')
    .map(({ name, assertionResults }) => ({
      file: relative(root, name),
      tests: assertionResults.filter((one) => one.status === 'failed').map((one) => one.fullName),
    }));
  const broken = failedFiles.filter(({ tests }) => tests.length === 0).length;
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests + broken,
    skipped: report.numPendingTests + report.numTodoTests,
    failedFiles,
  };
}

/**
 * Files to run once more by themselves: those with failures, when they are few. Tests that start
 * the whole product compete for processors with what runs beside them; by themselves they do not.
 */
export function filesToRerun({ failedFiles }) {
  return failedFiles.length <= mostRerunFiles ? failedFiles.map(({ file }) => file) : [];
}

/**
 * Counts after the second run: a test that failed in the first and not in the second has passed,
 * and stands in `unsteady` ('file > test'); a file that did not load the first time is replaced
 * by what the second run says of it.
 */
export function joinRuns(first, second) {
  const stillFailed = new Set(second.failedFiles.flatMap(({ file, tests }) => names(file, tests)));
  const unsteady = first.failedFiles
    .flatMap(({ file, tests }) => names(file, tests))
    .filter((name) => !stillFailed.has(name));
  return {
    passed: first.passed + unsteady.length,
    failed: stillFailed.size,
    skipped: first.skipped,
    unsteady,
  };
}

/** A file without failed tests stands for itself: it did not load. */
function names(file, tests) {
  return tests.length === 0 ? [file] : tests.map((test) => `${file} > ${test}`);
}
