/** Runs the SecLang unit tables (transformations, operators) against the catalog. */

import { describe, expect, test } from 'vitest';
import { fullCatalog } from '../../engine/rules/features/full-catalog.ts';
import { runUnitRow, type UnitRow } from '../../engine/rules/oracle/conformance/unit-table.ts';
import { readCorpus } from './corpus.ts';

const rows = readCorpus<UnitRow>('seclang-units.jsonl');

describe.skipIf(rows === null)('SecLang unit tables', () => {
  test('every row gives what the table says', () => {
    const failures: string[] = [];
    const readings: string[] = [];
    let ran = 0;
    for (const row of rows ?? []) {
      const { result, detail } = runUnitRow(row, fullCatalog);
      ran++;
      if (result === 'fail') failures.push(detail);
      else if (detail !== '') readings.push(detail);
    }
    for (const line of readings) console.log(`read differently: ${line}`);
    console.log(`${ran - failures.length} passed, ${failures.length} failed`);
    expect(failures).toEqual([]);
    expect(ran).toBe(rows?.length);
  });
});
