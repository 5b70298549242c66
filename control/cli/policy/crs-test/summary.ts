/** What remains of a run: counts, the table per family and the report. */

import type { Table } from '../../output.ts';

/** What became of one case. */
export interface CaseResult {
  readonly title: string;
  readonly family: string;
  readonly result: 'pass' | 'fail' | 'skip';
  readonly reasons: readonly string[];
  /** Reason code of the front's own 400 that stood for the rule; null when the rules decided. */
  readonly refusal: string | null;
  /** The expected status was the one that detection-only withheld. */
  readonly withheld: boolean;
}

/** A whole run as the report file holds it. */
export interface RunReport {
  readonly ruleset: string;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** Passed on a recorded 400 of the front. */
  readonly refused: number;
  readonly families: Readonly<Record<string, FamilyCount>>;
  readonly tests: readonly CaseResult[];
}

/** Counts of one family. */
export interface FamilyCount {
  readonly pass: number;
  readonly fail: number;
  readonly skip: number;
  readonly refused: number;
}

/** Counts results. */
export function summarize(ruleset: string, tests: readonly CaseResult[]): RunReport {
  const families: Record<string, FamilyCount> = {};
  for (const { family, result, refusal } of tests) {
    const before = families[family] ?? { pass: 0, fail: 0, skip: 0, refused: 0 };
    families[family] = {
      ...before,
      [result]: before[result] + 1,
      refused: before.refused + (refusal === null ? 0 : 1),
    };
  }
  const count = (result: CaseResult['result']): number =>
    tests.filter((one) => one.result === result).length;
  return {
    ruleset,
    passed: count('pass'),
    failed: count('fail'),
    skipped: count('skip'),
    refused: tests.filter((one) => one.refusal !== null).length,
    families,
    tests,
  };
}

/** One row a family, sorted by name. */
export function familyTable({ families }: RunReport): Table {
  const rows = Object.entries(families)
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([family, { pass, fail, skip, refused }]) => {
      const run = pass + fail;
      const rate = run === 0 ? '-' : `${((100 * pass) / run).toFixed(2)} %`;
      return [family, ...[pass, fail, skip, refused].map(String), rate];
    });
  return { columns: ['FAMILY', 'PASSED', 'FAILED', 'SKIPPED', 'BY 400', 'RATE'], rows };
}

/** The line that ends every run. */
export function closingLine({ passed, failed, skipped }: RunReport): string {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`;
}
