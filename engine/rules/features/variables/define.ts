/**
 * The three ways a variable is made: over rows of the value table, from one computed value, or
 * from a computed list. Never names a variable.
 */

import type { ByteString } from '../../../../base/byte-string.ts';
import { nameIs } from '../../transaction/ascii.ts';
import type { Transaction } from '../../transaction/transaction.ts';
import type { VariableDefinition } from '../../transaction/types.ts';
import type { Entry, SourceId } from '../../transaction/values.ts';

/** What every variable tells about itself. */
export interface VariableTexts {
  readonly name: string;
  readonly aliases?: readonly string[];
  readonly summary: string;
  readonly example: string;
  /** ModSecurity's reference manual where it says nothing else. */
  readonly source?: string;
}

/** Where the behavior is defined, unless a variable names another source. */
export const manual = 'ModSecurity v3 reference manual, Variables';
const noEntries: readonly Entry[] = [];

/**
 * A collection whose entries are rows of `sources`, in order of source, then of arrival.
 * With the row part `key` each entry's value is its own name, as in ARGS_NAMES.
 */
export function rowCollection(
  texts: VariableTexts,
  sources: readonly SourceId[],
  rowPart: 'value' | 'key' = 'value',
): VariableDefinition {
  const add = (tx: Transaction, row: number, into: Entry[]): void => {
    const key = tx.values.key(row);
    into.push({ key, value: rowPart === 'key' ? key : tx.values.value(row) });
  };
  return {
    source: manual,
    ...texts,
    shape: 'collection',
    rows: { sources, rowPart },
    entries(tx) {
      const found: Entry[] = [];
      for (const source of sources) {
        for (const row of tx.values.rowsOf(source)) add(tx, row, found);
      }
      return found;
    },
    lookup(tx, key) {
      const { values } = tx;
      let found: Entry[] | null = null;
      for (const source of sources) {
        for (const row of values.rowsOf(source)) {
          if (!nameIs(values.slab, values.keyStart[row]!, values.keyEnd[row]!, key)) continue;
          add(tx, row, (found ??= []));
        }
      }
      return found ?? noEntries;
    },
    count: (tx) =>
      sources.reduce<number>((sum, source) => sum + tx.values.rowsOf(source).length, 0),
  };
}

/** Values of another variable under the names that the origin gives them, where these differ. */
export function renamedCollection(
  texts: VariableTexts,
  source: SourceId,
  renamed: NonNullable<VariableDefinition['renamed']>,
  rowPart: 'value' | 'key' = 'value',
): VariableDefinition {
  return { ...rowCollection(texts, [source], rowPart), renamed };
}

/** A scalar that is one row; it has no entry while there is no such row. */
export function rowScalar(texts: VariableTexts, source: SourceId): VariableDefinition {
  return {
    source: manual,
    ...texts,
    shape: 'scalar',
    selector: 'none',
    rows: { sources: [source], rowPart: 'value' },
    ...scalarEntries((tx) => {
      const row = tx.values.rowsOf(source)[0];
      return row === undefined ? null : tx.values.value(row);
    }),
    count: (tx) => tx.values.rowsOf(source).length,
  };
}

/** A scalar that is computed when asked for; null means unset. */
export function scalar(
  texts: VariableTexts,
  read: (tx: Transaction) => ByteString | number | null,
): VariableDefinition {
  return {
    source: manual,
    ...texts,
    shape: 'scalar',
    selector: 'none',
    ...scalarEntries((tx) => {
      const value = read(tx);
      return value === null ? null : String(value);
    }),
  };
}

function scalarEntries(
  read: (tx: Transaction) => ByteString | null,
): Pick<VariableDefinition, 'read' | 'entries'> {
  return {
    read,
    entries(tx) {
      const value = read(tx);
      return value === null ? noEntries : [{ key: '', value }];
    },
  };
}

/** A collection that is computed when asked for; `find` is a faster way to one (lower-case) key. */
export function collection(
  texts: VariableTexts,
  list: (tx: Transaction) => readonly Entry[],
  find?: (tx: Transaction, key: ByteString) => Entry | null,
): VariableDefinition {
  return {
    source: manual,
    ...texts,
    shape: 'collection',
    entries: list,
    lookup(tx, key) {
      if (find === undefined) return list(tx).filter((entry) => sameName(entry.key, key));
      const found = find(tx, key);
      return found === null ? noEntries : [found];
    },
    count: (tx) => list(tx).length,
  };
}

/** True when `name` equals `lower` but for ASCII case. */
export function sameName(name: ByteString, lower: ByteString): boolean {
  if (name.length !== lower.length) return false;
  for (let i = 0; i < name.length; i++) {
    const code = name.charCodeAt(i);
    const folded = code >= 0x41 && code <= 0x5a ? code + 0x20 : code;
    if (folded !== lower.charCodeAt(i)) return false;
  }
  return true;
}

/** Value of the first row of `source` with that lower-case key; null when there is none. */
export function firstValue(tx: Transaction, source: SourceId, key: string): ByteString | null {
  const { values } = tx;
  for (const row of values.rowsOf(source)) {
    if (nameIs(values.slab, values.keyStart[row]!, values.keyEnd[row]!, key)) {
      return values.value(row);
    }
  }
  return null;
}
