/** Owns tables: columns by a list, texts with hidden characters as escapes, long ones in part. */

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
}: {
  readonly items: readonly T[];
  readonly columns: readonly Column<T>[];
  readonly empty: string;
  readonly label: string;
}): JSX.Element {
  const { body, from, to, above, below } = useRowWindow(items.map((_, index) => String(index)));
  if (items.length === 0) return <p class="empty">{empty}</p>;
  return (
    <div class="scroll" role="region" aria-label={label} tabIndex={0}>
      <table aria-rowcount={items.length + 1}>
        <thead>
          <tr>
            {columns.map(({ title, number }) => (
              <th class={number ? 'number' : ''}>
                {title === '' ? <span class="unseen">{t('common.actions')}</span> : title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody ref={body}>
          <Space pixels={above} columns={columns.length} />
          {items.slice(from, to).map((item) => (
            <tr>
              {columns.map(({ of, number, line }) => (
                <td class={number ? 'number' : line ? 'time' : ''}>{shown(of(item))}</td>
              ))}
            </tr>
          ))}
          <Space pixels={below} columns={columns.length} />
        </tbody>
      </table>
    </div>
  );
}

function shown(value: ComponentChildren): ComponentChildren {
  return typeof value === 'string' ? <VisibleText text={value === '' ? '–' : value} /> : value;
}
