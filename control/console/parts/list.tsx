/** Lists of records: a page at a time, what removes a record, and the form that adds one. */

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { PageResponse } from '../../../proto/gen/waf/v1/common_pb.ts';
import { useCall, type Loaded } from '../call.ts';
import { t } from '../text/text.ts';
import { Act } from './act.tsx';
import { Edit, type EditProps } from './edit.tsx';
import { Fold } from './panel.tsx';
import { State } from './state.tsx';
import { Table, type Column } from './table.tsx';

/** The largest page that the API gives. */
const pageSize = 200;

/** An answer with records; `page` says how many there are in all. */
export interface Listed<T> {
  readonly items: readonly T[];
  readonly page?: PageResponse | undefined;
}

/** The page that a call asks for. */
export interface PageWanted {
  readonly page: number;
  readonly pageSize: number;
}

/** What a view knows of a list; one that has pages can turn them. */
export interface Pages<A> extends Loaded<A> {
  readonly at?: number;
  readonly turn?: (page: number) => void;
}

/** Calls `load` for the page that is shown, as `useCall` does, and again as time passes. */
export function usePages<A>(
  key: string,
  load: (page: PageWanted, signal: AbortSignal) => Promise<A>,
): Pages<A> {
  const [at, turn] = useState(1);
  const wanted = { page: at, pageSize };
  const found = useCall(`${key} ${at}`, (signal) => load(wanted, signal));
  return { ...found, at, turn };
}

/** The records of all pages, for a choice among them. */
export async function allItems<T>(
  load: (page: PageWanted) => Promise<Listed<T>>,
): Promise<readonly T[]> {
  const found: T[] = [];
  for (let page = 1; ; page += 1) {
    const { items, page: of } = await load({ page, pageSize });
    found.push(...items);
    if (items.length === 0 || found.length >= Number(of?.total ?? 0)) return found;
  }
}

/** The ways to the page before and after; nothing where one page holds all. */
export function PageSteps({ of }: { readonly of: Pages<Listed<unknown>> }): JSX.Element | null {
  const { at = 1, turn, value } = of;
  const more = Number(value?.page?.total ?? 0) > at * pageSize;
  if (turn === undefined || (at === 1 && !more)) return null;
  return (
    <p class="actions">
      {at > 1 && (
        <button type="button" aria-label={t('common.back')} onClick={() => turn(at - 1)}>
          ←
        </button>
      )}
      {more && (
        <button type="button" onClick={() => turn(at + 1)}>
          {t('common.more')}
        </button>
      )}
    </p>
  );
}

/** The cursor of the page that is shown; '' for the newest, and again once `key` changes. */
export function useCursor(key: string): [cursor: string, go: (cursor: string) => void] {
  const [at, setAt] = useState({ key, cursor: '' });
  return [at.key === key ? at.cursor : '', (cursor) => setAt({ key, cursor })];
}

/** The ways through a log, which is read from the newest entry by cursors. */
export function CursorSteps({
  cursor,
  page,
  go,
}: {
  readonly cursor: string;
  readonly page: { readonly hasMore: boolean; readonly nextCursor: string } | undefined;
  readonly go: (cursor: string) => void;
}): JSX.Element {
  return (
    <p class="actions">
      {cursor !== '' && (
        <button type="button" onClick={() => go('')}>
          {t('common.newest')}
        </button>
      )}
      {page?.hasMore === true && (
        <button type="button" onClick={() => go(page.nextCursor)}>
          {t('common.more')}
        </button>
      )}
    </p>
  );
}

interface ListProps<T> {
  readonly of: Pages<Listed<T>>;
  readonly label: string;
  readonly empty: string;
  readonly columns: readonly Column<T>[];
  /** Whether an answer that counts no records holds them all. */
  readonly sortable?: boolean;
  /** What removes a record: the last column. */
  readonly remove?: {
    readonly label: string;
    readonly ask?: string;
    readonly codes: readonly string[];
    readonly run: (item: T) => Promise<unknown>;
  };
}

/** The list as a table. */
export function List<T>({
  of,
  label,
  empty,
  columns,
  sortable = true,
  remove,
}: ListProps<T>): JSX.Element {
  const last = (item: T): JSX.Element | null => {
    if (remove === undefined) return null;
    const { run, ...button } = remove;
    return <Act {...button} run={() => run(item)} done={of.reload} />;
  };
  const all = remove === undefined ? columns : [...columns, { title: '', of: last }];
  return (
    <State of={of}>
      {({ items, page }) => (
        <>
          <Table
            {...{ label, items, empty }}
            columns={all}
            sortable={sortable && items.length >= Number(page?.total ?? 0)}
          />
          <PageSteps of={of} />
        </>
      )}
    </State>
  );
}

/** A form that opens with a click on its name; `inside` where it stands in a card. */
export function FoldedEdit({
  inside = false,
  ...edit
}: EditProps & { readonly inside?: boolean }): JSX.Element {
  if (!inside) {
    return (
      <Fold title={edit.label}>
        <Edit {...edit} />
      </Fold>
    );
  }
  return (
    <details>
      <summary>{edit.label}</summary>
      <Edit {...edit} />
    </details>
  );
}
