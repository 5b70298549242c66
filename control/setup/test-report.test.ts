/** Tests how a report of the runner becomes counts. */

import { expect, test } from 'vitest';
import { readReport } from './test-report.mjs';

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

test('a file that does not load counts as one failed test', () => {
  expect(readReport(report(10, 2, file('a.test.ts', 'x', 'y'), broken))).toEqual({
    passed: 10,
    failed: 3,
    skipped: 3,
  });
});

test('a test that failed once is counted as failed, however few they are', () => {
  expect(readReport(report(9, 1, file('a.test.ts', 'x')))).toMatchObject({ passed: 9, failed: 1 });
});
