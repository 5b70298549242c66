/** Tests how two runs of the tests become one count. */

import { describe, expect, test } from 'vitest';
import { filesToRerun, joinRuns, mostRerunFiles, readReport } from './test-report.mjs';

interface FileResult {
  name: string;
  status: 'passed' | 'failed';
  assertionResults: { status: string; fullName: string }[];
}

function file(name: string, ...failed: string[]): FileResult {
  return {
    name: `/house/${name}`,
    status: 'failed',
    assertionResults: [
      { status: 'passed', fullName: 'good' },
      ...failed.map((fullName) => ({ status: 'failed', fullName })),
    ],
  };
}

function report(passed: number, failed: number, ...testResults: FileResult[]): object {
  const counts = { numPassedTests: passed, numFailedTests: failed };
  return { ...counts, numPendingTests: 2, numTodoTests: 1, testResults };
}

const broken: FileResult = { name: '/house/c.test.ts', status: 'failed', assertionResults: [] };

describe('a report', () => {
  test('names failed tests by file, and counts a file that does not load as one', () => {
    expect(readReport(report(10, 2, file('a.test.ts', 'x', 'y'), broken), '/house')).toEqual({
      passed: 10,
      failed: 3,
      skipped: 3,
      failedFiles: [
        { file: 'a.test.ts', tests: ['x', 'y'] },
        { file: 'c.test.ts', tests: [] },
      ],
    });
  });

  test('with many failed files asks for no second run', () => {
    const files = Array.from({ length: mostRerunFiles + 1 }, (_, at) => file(`${at}.test.ts`, 'x'));
    const few = files.slice(1);
    expect(filesToRerun(readReport(report(9, 4, ...files), '/house'))).toEqual([]);
    expect(filesToRerun(readReport(report(9, 3, ...few), '/house'))).toHaveLength(mostRerunFiles);
  });
});

describe('two runs', () => {
  const first = readReport(report(10, 2, file('a.test.ts', 'x', 'y'), broken), '/house');

  test('name what passed only by itself', () => {
    const second = readReport(report(9, 1, file('a.test.ts', 'y')), '/house');
    expect(joinRuns(first, second)).toEqual({
      passed: 12,
      failed: 1,
      skipped: 3,
      unsteady: ['a.test.ts > x', 'c.test.ts'],
    });
  });

  test('that fail alike stay failed', () => {
    expect(joinRuns(first, first)).toMatchObject({ passed: 10, failed: 3, unsteady: [] });
  });

  test('count what failed only in the second as failed', () => {
    const second = readReport(report(9, 1, file('c.test.ts', 'z')), '/house');
    expect(joinRuns(first, second)).toMatchObject({ failed: 1 });
  });
});
