/**
 * Runs the table of rules on IP lists, country rules, rate limits and trust, one line of
 * access-rules.jsonl a rule, in order, and counts what ran. `$name` in a line stands for what an
 * earlier line kept.
 */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectRow, readRuleRows, RuleTable } from '../../../test/support/rule-table.ts';
import { startTestControl, type TestControl } from '../../../test/support/test-control.ts';

const rows = readRuleRows(new URL('access-rules.jsonl', import.meta.url));
const table = new RuleTable(['s3cret-token']);
let waf: TestControl;

beforeAll(async () => {
  waf = await startTestControl();
});
afterAll(() => waf.control.close());

describe('rules on access', () => {
  test.each(rows.map((row) => [`${row.rpc}: ${row.rule}`, row] as const))('%s', (_, row) =>
    expectRow(table, waf, row),
  );

  test('every row of the table ran', () => {
    expect(rows.length).toBeGreaterThan(200);
    expect(table.ran).toBe(rows.length);
    console.log(`rules on access: ${table.ran} of ${rows.length} rows ran`);
  });
});
