/**
 * Which columns of a long table are shown: the first always, the others by choice. The browser
 * keeps it, as it keeps theme and language.
 */

import { signal } from '@preact/signals';
import type { ComponentChildren, JSX } from 'preact';
import { pageTexts } from '../text/text.ts';

const w = pageTexts({ columns: ['Columns', '列'] });

const storeName = 'waf-hidden-columns';
const hidden = signal<ReadonlySet<string>>(
  new Set((window.localStorage.getItem(storeName) ?? '').split(' ')),
);

/** Shows or hides a column, by its name among those of all tables, from now on. */
function turn(column: string, shown: boolean): void {
  const next = new Set(hidden.value);
  if (shown) next.delete(column);
  else next.add(column);
  hidden.value = next;
  window.localStorage.setItem(storeName, [...next].join(' '));
}

/** The table with its menu; `columns` are names and titles, all of the table in their order. */
export function ColumnChoice({
  table,
  columns,
  children,
}: {
  readonly table: string;
  readonly columns: readonly (readonly [name: string, title: string])[];
  readonly children: ComponentChildren;
}): JSX.Element {
  const offered = columns.slice(1).map(([name, title], index) => {
    const column = `${table}.${name}`;
    return { column, title, place: index + 2, shown: !hidden.value.has(column) };
  });
  const places = offered.flatMap(({ place, shown }) => (shown ? [] : [place]));
  return (
    <div data-hidden-columns={places.join(' ')}>
      <details class="column-choice">
        <summary>{w('columns')}</summary>
        <fieldset>
          <legend class="unseen">{w('columns')}</legend>
          {offered.map(({ column, title, shown }) => (
            <label class="check">
              <input
                type="checkbox"
                checked={shown}
                onChange={({ currentTarget }) => turn(column, currentTarget.checked)}
              />
              {title}
            </label>
          ))}
        </fieldset>
      </details>
      {children}
    </div>
  );
}
