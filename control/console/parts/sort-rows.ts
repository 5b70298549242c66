/** Orders the rows of a table by the values of one column. Pure; loaded when rows are sorted. */

import type { Timestamp } from '@bufbuild/protobuf/wkt';

/** What rows are ordered by; undefined, as '' and a dash, for a row without a value. */
export type SortValue = string | number | bigint | Timestamp | undefined;

/** A column's value of an item. */
export interface Valued<T> {
  /** The value that rows are sorted by; shown as it is where `of` is not given. */
  readonly by?: (item: T) => SortValue;
  /** What is shown; rows are sorted by it where it is a text and `by` is not given. */
  readonly of?: (item: T) => unknown;
}

/** The column that orders the rows, by its place, and what does it. */
export interface Sort {
  readonly column: number;
  readonly order: Order;
  readonly sorted: typeof sortedRows;
}

type Order = 'ascending' | 'descending';

/** The order after a press on a column's header: ascending, descending, as delivered. */
export function nextSort(sort: Sort | null, column: number): Sort | null {
  if (sort?.column !== column) return { column, order: 'ascending', sorted: sortedRows };
  return sort.order === 'descending' ? null : { ...sort, order: 'descending' };
}

/**
 * The rows by the values of a column: texts as `language` orders them, digits in them by what they
 * count. Rows of equal values keep their order; those without a value are last in both orders.
 */
export function sortedRows<T, R extends { readonly item: T }>(
  rows: readonly R[],
  column: Valued<T>,
  order: Order,
  language: string,
): readonly R[] {
  const collator = new Intl.Collator(language, { numeric: true });
  const present: { readonly row: R; readonly key: Key }[] = [];
  const absent: R[] = [];
  for (const row of rows) {
    const key = keyOf(column, row.item);
    if (key === null) absent.push(row);
    else present.push({ row, key });
  }
  present.sort(({ key: one }, { key: other }) => {
    const ascending = compare(one, other, collator);
    return order === 'ascending' ? ascending : -ascending;
  });
  return [...present.map(({ row }) => row), ...absent];
}

type Key = string | number | bigint;

/** A value to compare, times in nanoseconds; null for none. */
function keyOf<T>({ by, of }: Valued<T>, item: T): Key | null {
  const value = by === undefined ? textOf(of?.(item)) : by(item);
  if (typeof value === 'object') return value.seconds * 1_000_000_000n + BigInt(value.nanos);
  return value === undefined || value === '' || value === '–' ? null : value;
}

const textOf = (shown: unknown): string | undefined =>
  typeof shown === 'string' ? shown : undefined;

/** One column has keys of one type, but for numbers of both types. */
function compare(one: Key, other: Key, collator: Intl.Collator): number {
  if (typeof one === 'string' || typeof other === 'string') {
    return collator.compare(String(one), String(other));
  }
  return one < other ? -1 : Number(one > other);
}
