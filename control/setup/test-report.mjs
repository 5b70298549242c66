/** What a run of the tests says: counts, and CPU time. A test that failed is not run again. */

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

/** Folders that a summary names. */
const foldersMax = 20;

/**
 * CPU time by folder, the costliest a line each and the others in one; '' without notes. `notes`
 * are the lines of `test/support/processor-time.ts`: milliseconds of each file and of the processes
 * that it started.
 */
export function cpuByFolder(notes) {
  const sums = new Map();
  for (const line of notes.split('\n').filter((text) => text !== '')) {
    const { file, own, children } = JSON.parse(line);
    const folder = file.split('/').slice(0, 2).join('/');
    const sum = sums.get(folder) ?? { files: 0, own: 0, children: 0 };
    sum.files += 1;
    sum.own += own;
    sum.children += children;
    sums.set(folder, sum);
  }
  const seconds = (ms) => (ms / 1_000).toFixed(1);
  const sorted = [...sums]
    .map(([folder, sum]) => ({ folder, ...sum, all: sum.own + sum.children }))
    .toSorted((left, right) => right.all - left.all);
  const lines = sorted.slice(0, foldersMax).map(({ folder, files, own, all }) => {
    const parts = `${files} files, ${seconds(own)} s without processes that they started`;
    return `${seconds(all).padStart(8)} s  ${folder}: ${parts}`;
  });
  const others = sorted.slice(foldersMax);
  if (others.length > 0) {
    const all = others.reduce((sum, one) => sum + one.all, 0);
    lines.push(`${seconds(all).padStart(8)} s  ${others.length} other folders`);
  }
  return lines.join('\n');
}
