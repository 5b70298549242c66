/**
 * Tables: columns by a list, texts with hidden characters as escapes, long ones in part. In a
 * narrow window each row is a card; the roles keep the table one for who hears it.
 */

import type { ComponentChildren, JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { Reload } from '../lazy.tsx';
import { exactNumber, language, t } from '../text/text.ts';
import { Space, useRowWindow } from './row-window.tsx';
import type { Sort, Valued } from './sort-rows.ts';
import { VisibleText } from './visible-text.tsx';
import { when } from './when.tsx';

/** One column; it has `of`, `by` or both. One whose cells are texts is sorted by them. */
export interface Column<T> extends Valued<T> {
  readonly title: string;
  /** What is shown in place of the value; a text is shown as a text of others. */
  readonly of?: (item: T) => ComponentChildren;
  readonly number?: boolean;
  /** Stays on one line. */
  readonly line?: boolean;
}

interface TableProps<T> {
  readonly items: readonly T[];
  readonly columns: readonly Column<T>[];
  readonly empty: string;
  readonly label: string;
  /** Tells rows apart whose items have no id; '' for the place. */
  readonly keyOf?: (item: T) => string;
  /** Whether these are all rows, in an order of no meaning: others are not sorted. */
  readonly sortable?: boolean;
}

/** The table; `empty` says what to do when there is nothing. */
export function Table<T>({
  items,
  columns,
  empty,
  label,
  keyOf = idOf,
  sortable = true,
}: TableProps<T>): JSX.Element {
  const { sort, load, press } = useSort();
  const sorts = useSortable(columns, items, sortable);
  const used = sort !== null && sorts[sort.column] === true ? sort : null;
  // A row is known by its place as delivered: its state follows it when rows are sorted.
  const delivered = items.map((item, index) => ({ item, place: String(index) }));
  const rows =
    used?.sorted(delivered, columns[used.column]!, used.order, language.value) ?? delivered;
  const { body, from, to, above, below } = useRowWindow(rows.map(({ place }) => place));
  if (items.length === 0) return <p class="empty">{empty}</p>;
  return (
    <div class="scroll" role="region" aria-label={label} tabIndex={0}>
      {load === 'failed' && (
        <p class="notice" role="alert">
          {t('common.unsorted')} <Reload />
        </p>
      )}
      <table role="table" aria-rowcount={items.length + 1} aria-busy={load === 'waits'}>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map((column, index) => (
              <th
                role="columnheader"
                class={classOf(column)}
                aria-sort={used?.column === index ? used.order : undefined}
              >
                {sorts[index] === true ? (
                  <button type="button" title={t('common.sort')} onClick={() => press(index)}>
                    {column.title}
                  </button>
                ) : (
                  column.title || <span class="unseen">{t('common.actions')}</span>
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup" ref={body}>
          <Space pixels={above} columns={columns.length} />
          {rows.slice(from, to).map(({ item, place }) => (
            <tr role="row" key={keyOf(item) || place}>
              {columns.map((column) => (
                <Cell column={column} value={contentOf(column, item)} />
              ))}
            </tr>
          ))}
          <Space pixels={below} columns={columns.length} />
        </tbody>
      </table>
    </div>
  );
}

interface Sorting {
  readonly sort: Sort | null;
  /** Where the code that sorts is. */
  readonly load: 'done' | 'waits' | 'failed';
  /** Sorts by the next order of a column. */
  readonly press: (column: number) => void;
}

/** The order that headers choose; the code that sorts is loaded with the first press. */
function useSort(): Sorting {
  const [sort, setSort] = useState<Sort | null>(null);
  const [load, setLoad] = useState<Sorting['load']>('done');
  const press = (column: number): void => {
    setLoad('waits');
    import('./sort-rows.ts').then(
      ({ nextSort }) => {
        setSort((before) => nextSort(before, column));
        setLoad('done');
      },
      () => setLoad('failed'),
    );
  };
  return { sort, load, press };
}

/** Which columns can be sorted: asked of all rows, so once for the same rows and columns. */
function useSortable<T>(
  columns: readonly Column<T>[],
  items: readonly T[],
  sortable: boolean,
): readonly boolean[] {
  const titles = columns.map(({ title }) => title).join('\n');
  return useMemo(
    () => columns.map((column) => sortable && canSort(column, items)),
    [titles, items, sortable],
  );
}

/** Whether a column has values to compare; a text that is written for a number is none. */
function canSort<T>({ title, of, by, number }: Column<T>, items: readonly T[]): boolean {
  if (title === '' || items.length < 2) return false;
  return by !== undefined || (!number && items.every((item) => typeof of?.(item) === 'string'));
}

function contentOf<T>({ of, by }: Column<T>, item: T): ComponentChildren {
  if (of !== undefined) return of(item);
  const value = by?.(item);
  if (value === undefined || typeof value === 'object') return when(value);
  return typeof value === 'string' ? value : exactNumber(value);
}

/** A row keeps its state, such as a question that is open, where rows come and go before it. */
function idOf(item: unknown): string {
  const id: unknown = typeof item === 'object' && item !== null ? Reflect.get(item, 'id') : '';
  return typeof id === 'string' ? id : '';
}

/** A cell names its column, too: in a narrow window the head is out of sight. */
function Cell<T>({
  column,
  value,
}: {
  readonly column: Column<T>;
  readonly value: ComponentChildren;
}): JSX.Element {
  const blank = value === '' || value === '–' || value === null;
  return (
    <td role="cell" class={`${classOf(column)}${blank ? ' blank' : ''}`} data-title={column.title}>
      {shown(value)}
    </td>
  );
}

function classOf<T>({ title, number, line }: Column<T>): string {
  if (number) return 'number';
  if (title === '') return 'acts';
  return line ? 'time' : '';
}

function shown(value: ComponentChildren): ComponentChildren {
  return typeof value === 'string' ? <VisibleText text={value === '' ? '–' : value} /> : value;
}
