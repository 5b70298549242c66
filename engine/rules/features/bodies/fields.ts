/** Finds fields of a message's head among the values of a transaction. */

import type { ByteString } from '../../../../base/byte-string.ts';
import { nameIs } from '../../transaction/ascii.ts';
import type { Transaction } from '../../transaction/transaction.ts';
import { type SourceId, SOURCE } from '../../transaction/values.ts';

/** The row of the last request field of that lower-case name; -1 for none. */
export function lastFieldRow(tx: Transaction, name: string): number {
  return rowsNamed(tx, SOURCE.requestHeader, name).at(-1) ?? -1;
}

/** Its value as it was sent; '' for none. */
export function lastField(tx: Transaction, name: string): ByteString {
  const row = lastFieldRow(tx, name);
  return row < 0 ? '' : tx.values.value(row);
}

/** Content-Encoding in lower case, all fields as one list; '' for none. */
export function contentCoding(
  tx: Transaction,
  source: typeof SOURCE.requestHeader | typeof SOURCE.responseHeader,
): ByteString {
  const codings = rowsNamed(tx, source, 'content-encoding').map((row) => tx.values.value(row));
  return codings.join(',').trim().toLowerCase();
}

function rowsNamed({ values }: Transaction, source: SourceId, name: string): number[] {
  const rows: number[] = [];
  for (const row of values.rowsOf(source)) {
    if (nameIs(values.slab, values.keyStart[row]!, values.keyEnd[row]!, name)) rows.push(row);
  }
  return rows;
}
