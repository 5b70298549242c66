/** Tests how a report of the runner becomes counts. */

import { expect, test } from 'vitest';
import { cpuByFolder, readReport } from './test-report.mjs';

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

test('CPU time is summed up by folder, the costliest first', () => {
  const notes = [
    { file: 'engine/http/a.test.ts', own: 100, children: 0 },
    { file: 'test/e2e/a.test.ts', own: 1_000, children: 5_000 },
    { file: 'test/e2e/b.test.ts', own: 500, children: 250 },
  ].map((note) => `${JSON.stringify(note)}\n`);
  expect(cpuByFolder(notes.join('')).split('\n')).toEqual([
    '     6.8 s  test/e2e: 2 files, 1.5 s without processes that they started',
    '     0.1 s  engine/http: 1 files, 0.1 s without processes that they started',
  ]);
  expect(cpuByFolder('')).toBe('');
  const note = (at: number): string => `{"file":"a/${at}/b","own":1000,"children":0}`;
  const many = Array.from({ length: 23 }, (_, at) => note(at));
  expect(cpuByFolder(many.join('\n')).split('\n').at(-1)).toBe('     3.0 s  3 other folders');
});
