/**
 * Tables: columns by a list, texts with hidden characters as escapes, long ones in part. In a
 * narrow window each row is a card; the roles keep the table one for who hears it.
 */

import type { ComponentChildren, JSX } from 'preact';
import { t } from '../text/text.ts';
import { Space, useRowWindow } from './row-window.tsx';
import { VisibleText } from './visible-text.tsx';

/** One column; a text that `of` gives is shown as a text of others. */
export interface Column<T> {
  readonly title: string;
  readonly of: (item: T) => ComponentChildren;
  readonly number?: boolean;
  /** Stays on one line. */
  readonly line?: boolean;
}

/** The table; `empty` says what to do when there is nothing. */
export function Table<T>({
  items,
  columns,
  empty,
  label,
  keyOf = idOf,
}: {
  readonly items: readonly T[];
  readonly columns: readonly Column<T>[];
  readonly empty: string;
  readonly label: string;
  /** Tells rows apart whose items have no id; '' for the place. */
  readonly keyOf?: (item: T) => string;
}): JSX.Element {
  const { body, from, to, above, below } = useRowWindow(items.map((_, index) => String(index)));
  if (items.length === 0) return <p class="empty">{empty}</p>;
  return (
    <div class="scroll" role="region" aria-label={label} tabIndex={0}>
      <table role="table" aria-rowcount={items.length + 1}>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map((column) => (
              <th role="columnheader" class={classOf(column)}>
                {column.title === '' ? (
                  <span class="unseen">{t('common.actions')}</span>
                ) : (
                  column.title
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup" ref={body}>
          <Space pixels={above} columns={columns.length} />
          {items.slice(from, to).map((item, place) => (
            <tr role="row" key={keyOf(item) || String(from + place)}>
              {columns.map((column) => (
                <Cell column={column} value={column.of(item)} />
              ))}
            </tr>
          ))}
          <Space pixels={below} columns={columns.length} />
        </tbody>
      </table>
    </div>
  );
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
