/**
 * Adds values once more under the names that programs on the origin give them, where these differ
 * from the names that were sent. Never changes the rows that are there.
 */

import type { ByteString } from '../../../base/byte-string.ts';
import { cgiName, phpName } from '../../../base/origin-names.ts';
import { reachLimit } from '../transaction/inspection-limits.ts';
import type { Transaction } from '../transaction/transaction.ts';
import { SOURCE, type SourceId, type ValueTable } from '../transaction/values.ts';

/** How names of one source are read. */
interface Renaming {
  /** What the rows that are added are. */
  readonly source: SourceId;
  readonly read: (name: ByteString) => ByteString;
  /** 1 for bytes that do not stay as they are; a name without them is not read. */
  readonly changes: Uint8Array;
}

function renaming(source: SourceId, read: Renaming['read']): Renaming {
  const changes = Uint8Array.from({ length: 256 }, (_, byte) => {
    const one = String.fromCharCode(byte);
    return read(one) === one ? 0 : 1;
  });
  return { source, read, changes };
}

const renamings: readonly (readonly [SourceId, Renaming])[] = [
  [SOURCE.argGet, renaming(SOURCE.argRenamed, phpName)],
  [SOURCE.argPost, renaming(SOURCE.argRenamed, phpName)],
  [SOURCE.requestCookie, renaming(SOURCE.cookieRenamed, phpName)],
  [SOURCE.requestHeader, renaming(SOURCE.headerRenamed, cgiName)],
];

/**
 * Adds those of the rows from `first` on. Units: row index. Limits: the slab's. Cost: a look at the
 * bytes of each name; a copy of each that changes.
 */
export function addRenamed(tx: Transaction, first: number): void {
  const { values } = tx;
  for (const [source, { source: added, read, changes }] of renamings) {
    for (const row of values.rowsOf(source)) {
      if (row < first || !changesName(values, row, changes)) continue;
      const name = read(values.key(row));
      if (name === '') continue;
      if (values.room() < name.length) return reachLimit(tx, 'transaction-bytes');
      const at = values.appendText(name);
      values.add(added, at, values.used, values.start[row]!, values.end[row]!);
    }
  }
}

function changesName(values: ValueTable, row: number, changes: Uint8Array): boolean {
  const { slab, keyStart, keyEnd } = values;
  const end = keyEnd[row]!;
  for (let at = keyStart[row]!; at < end; at++) if (changes[slab[at]!] === 1) return true;
  return false;
}
