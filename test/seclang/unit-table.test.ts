/** Runs the SecLang unit tables (transformations, operators) against the catalogue. */

import { describe, expect, test } from 'vitest';
import { fullCatalog } from '../../engine/rules/catalog/full-catalog.ts';
import { runUnitRow, type UnitRow } from '../../engine/rules/oracle/conformance/unit-table.ts';
import { readCorpus } from './corpus.ts';

/** Rows that differ on purpose: title to reason. */
const deviations: ReadonlyMap<string, string> = new Map();

const rows = readCorpus<UnitRow>('seclang-units.jsonl');

describe.skipIf(rows === null)('SecLang unit tables', () => {
  test('every row gives what the table says', () => {
    const failures: string[] = [];
    let ran = 0;
    for (const row of rows ?? []) {
      const outcome = runUnitRow(row, fullCatalog);
      ran++;
      const deviates = deviations.has(row.title);
      if (outcome.result === 'fail' && !deviates) failures.push(outcome.detail);
      if (outcome.result === 'pass' && deviates) failures.push(`${row.title}: no longer deviates`);
    }
    console.log(
      `${ran - failures.length} passed, ${failures.length} failed, ${deviations.size} named deviations`,
    );
    expect(failures).toEqual([]);
    expect(ran).toBe(rows?.length);
  });
});
