/**
 * Runs the table of sentences on API documents, one line of api-documents.jsonl a sentence, in
 * order: documents on their whole way to a node, and what is refused on it.
 */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { apiDocuments } from '../../../test/support/api-documents.ts';
import { ApiRows } from '../../../test/support/api-rows.ts';
import { readRuleRows, type RuleRow } from '../../../test/support/rule-table.ts';
import { startTestControl } from '../../../test/support/test-control.ts';

const rows = readRuleRows(new URL('api-documents.jsonl', import.meta.url));
let run: ApiRows;

beforeAll(async () => {
  run = new ApiRows(await startTestControl());
  const { known } = run.table;
  for (const [name, text] of Object.entries(apiDocuments)) {
    known.set(name, Buffer.from(text).toString('base64'));
  }
  known.set('notUtf8', Buffer.from([0x7b, 0xff, 0x7d]).toString('base64'));
});
afterAll(() => run.close());

function expectSentence(row: RuleRow): Promise<void> {
  return run.run(row);
}

describe('sentences on API documents', () => {
  test.each(rows.map((row) => [`${row.rpc}: ${row.rule}`, row] as const))('%s', (_, row) =>
    expectSentence(row),
  );

  test('every row of the table ran', () => {
    expect(rows.length).toBeGreaterThanOrEqual(120);
    expect(run.table.ran).toBe(rows.length);
    console.log(`sentences on API documents: ${run.table.ran} of ${rows.length} rows ran`);
  });
});
