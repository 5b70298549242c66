/**
 * Runs the table of sentences on body controls, one line of body-controls.jsonl a sentence, in
 * order: drafts on their way to a node, changes of slots, and what is refused.
 */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { apiDocuments } from '../../../test/support/api-documents.ts';
import { ApiRows } from '../../../test/support/api-rows.ts';
import { readRuleRows, type RuleRow } from '../../../test/support/rule-table.ts';
import { startTestControl } from '../../../test/support/test-control.ts';

const rows = readRuleRows(new URL('body-controls.jsonl', import.meta.url));
let run: ApiRows;

beforeAll(async () => {
  run = new ApiRows(await startTestControl());
  run.table.known.set('pets', Buffer.from(apiDocuments['pets']!).toString('base64'));
});
afterAll(() => run.close());

function expectSentence(row: RuleRow): Promise<void> {
  return run.run(row);
}

describe('sentences on body controls', () => {
  test.each(rows.map((row) => [`${row.rpc}: ${row.rule}`, row] as const))('%s', (_, row) =>
    expectSentence(row),
  );

  test('every row of the table ran', () => {
    expect(rows.length).toBeGreaterThanOrEqual(100);
    expect(run.table.ran).toBe(rows.length);
    console.log(`sentences on body controls: ${run.table.ran} of ${rows.length} rows ran`);
  });
});
