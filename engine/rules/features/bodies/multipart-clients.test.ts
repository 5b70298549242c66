/** Tests what is taken of multipart bodies: what all backends read alike, and nothing else. */

import { describe, expect, test } from 'vitest';

import { fromByteString } from '../../../../base/byte-string.ts';
import { loadRequestBody } from '../../load/request-body.ts';
import { misplacedRows, rowTexts, transactionFor } from '../../load/test-sample.ts';
import type { Transaction } from '../../transaction/transaction.ts';
import { SOURCE } from '../../transaction/values.ts';
import { alikeRows, type ClientRow, differentRows } from './multipart-clients-table.ts';

function read({ parameters, body }: ClientRow, inspectsUnparsed = true): Transaction {
  const head = `POST / HTTP/1.1\r\nContent-Type: multipart/form-data${parameters}`;
  const tx = transactionFor(head, { inspectsUnparsed });
  const bytes = fromByteString(body.replaceAll('|', '\r\n'));
  loadRequestBody(tx, { bytes, truncated: false });
  expect(misplacedRows(tx)).toEqual([]);
  return tx;
}

/** As the rules 200002 to 200004 and 199402 decide. */
function isRefused({ bodyError, multipart }: Transaction): boolean {
  const { twoReadings, unmatchedBoundary, ambiguousPart } = multipart!;
  return bodyError + twoReadings + ambiguousPart > 0 || unmatchedBoundary === 1;
}

describe('all backends read alike', () => {
  test.each(alikeRows)('$title', (row) => {
    const tx = read(row);
    expect(tx.bodyErrorMessage).toBe('');
    expect(isRefused(tx)).toBe(false);
    expect(rowTexts(tx, SOURCE.argPost)).toContain('a=hello');
    for (const file of rowTexts(tx, SOURCE.file)) expect(file).toMatch(/^f=/);
  });
});

describe('backends differ', () => {
  test.each(differentRows)('$title', (row) => {
    expect(isRefused(read(row))).toBe(true);
  });

  test.each(differentRows)('$title: the refusal says in what', (row) => {
    const { twoReadings, readingsReason } = read(row).multipart!;
    expect(readingsReason !== '').toBe(twoReadings === 1);
  });
});

test('text outside the parts is inspected, empty lines are not', () => {
  const row = alikeRows.find(({ title }) => title === 'an epilogue')!;
  expect(rowTexts(read(row), SOURCE.argPost)).toContain('=The end');
  const blank = alikeRows.find(({ title }) => title === 'CRLF before the first boundary')!;
  expect(rowTexts(read(blank), SOURCE.argPost)).toEqual(['a=hello']);
});

test.each([
  ['; boundary="B"', 'boundaryQuoted'],
  ['; charset=utf-8; boundary=B', 'strictError'],
] as const)('the flags of ModSecurity are the same for %s', (parameters, flag) => {
  const body = `--B|Content-Disposition: form-data; name="a"||b|--B--|`;
  const row = { title: '', parameters, body };
  for (const lenient of [true, false]) {
    const { multipart } = read(row, lenient);
    expect([multipart![flag], multipart!.strictError]).toEqual([1, 1]);
  }
});
