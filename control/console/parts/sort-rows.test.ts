/** Orders of rows: numbers, times and texts, rows without a value, presses on headers. */

import { expect, test } from 'vitest';
import { nextSort, sortedRows, type SortValue } from './sort-rows.ts';

const orderOf = (descending: boolean) => (descending ? 'descending' : 'ascending');

function sorted(
  values: readonly SortValue[],
  descending = false,
  language = 'en',
): readonly SortValue[] {
  const rows = values.map((item) => ({ item }));
  const column = { by: (value: SortValue) => value };
  return sortedRows(rows, column, orderOf(descending), language).map(({ item }) => item);
}

test('presses on a header give ascending, descending, as delivered; another begins anew', () => {
  const first = nextSort(null, 2);
  expect(first).toMatchObject({ column: 2, order: 'ascending' });
  const second = nextSort(first, 2);
  expect(second).toMatchObject({ column: 2, order: 'descending' });
  expect(nextSort(second, 2)).toBeNull();
  expect(nextSort(second, 0)).toMatchObject({ column: 0, order: 'ascending' });
});

test('numbers are ordered by value, of either type', () => {
  expect(sorted([10, 9n, -1, 100n])).toEqual([-1, 9n, 10, 100n]);
  const large = 2n ** 60n;
  expect(sorted([large, large + 1n], true)).toEqual([large + 1n, large]);
});

test('times are ordered by seconds, then by nanoseconds', () => {
  const at = (seconds: bigint, nanos: number) => ({
    ...({ $typeName: 'google.protobuf.Timestamp', seconds, nanos } as const),
  });
  const [early, later, last] = [at(9n, 900), at(10n, 5), at(10n, 40)];
  expect(sorted([last, early, later])).toEqual([early, later, last]);
  expect(sorted([later, early, last], true)).toEqual([last, later, early]);
});

test('texts are ordered as the language orders them, digits by what they count', () => {
  expect(sorted(['b', 'C', 'ä', 'a'])).toEqual(['a', 'ä', 'b', 'C']);
  expect(sorted(['4.10.0', '4.9.0', '10'])).toEqual(['4.9.0', '4.10.0', '10']);
  expect(sorted(['张', '李', '阿'], false, 'zh-CN')).toEqual(['阿', '李', '张']);
});

test('rows of equal values keep their order in both directions', () => {
  const rows = ['b1', 'a1', 'b2', 'a2'].map((item) => ({ item }));
  const names = (descending: boolean): string[] =>
    sortedRows(rows, { by: (item: string) => item[0] }, orderOf(descending), 'en').map(
      ({ item }) => item,
    );
  expect(names(false)).toEqual(['a1', 'a2', 'b1', 'b2']);
  expect(names(true)).toEqual(['b1', 'b2', 'a1', 'a2']);
});

test('a column without values is sorted by the texts that it shows', () => {
  const rows = [3, 0, 20].map((item) => ({ item }));
  const of = (item: number): unknown => (item === 0 ? null : `CRS ${item}`);
  const found = sortedRows(rows, { of }, 'descending', 'en');
  expect(found.map(({ item }) => item)).toEqual([20, 3, 0]);
  const by = (item: number): number => -item;
  expect(sortedRows(rows, { of, by }, 'ascending', 'en')[0]).toEqual({ item: 20 });
});

test('rows without a value are last in both directions', () => {
  expect(sorted([undefined, 2, 1])).toEqual([1, 2, undefined]);
  expect(sorted([undefined, 1, 2], true)).toEqual([2, 1, undefined]);
  expect(sorted(['', 'b', '–', 'a'], true)).toEqual(['b', 'a', '', '–']);
});
