/**
 * Lists that are read by cursors: the next page is loaded as the end comes into view. What is kept
 * has a bound; past it the list begins anew at the next cursor.
 */

import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { isDenied, messageOf, refreshMs, type Loaded } from '../call.ts';
import { exactNumber, t } from '../text/text.ts';
import { withNewest } from './newest-first.ts';

/** Records that a list keeps. */
const keptMax = 5_000;
/** How far below the window the end of a list may be for the next page to be loaded. */
const nearPx = 800;

/** One answer of a call with cursors. */
export interface CursorPage<T> {
  readonly items: readonly T[];
  readonly page?: { readonly hasMore: boolean; readonly nextCursor: string } | undefined;
}

/** What a view knows of a long list. */
export interface LongList<T> extends Loaded<readonly T[]> {
  /** Whether the service has more. */
  readonly hasMore: boolean;
  /** Whether as much is kept as may be. */
  readonly full: boolean;
  /** Whether there are records before the first one. */
  readonly later: boolean;
  /** Loads the next page. */
  readonly more: () => void;
  /** Drops what is kept and continues after it. */
  readonly continueFrom: () => void;
  /** Begins at the newest record. */
  readonly restart: () => void;
}

interface Kept<T> {
  readonly items: readonly T[] | null;
  readonly next: string;
  readonly hasMore: boolean;
  readonly behind: boolean;
  readonly error: string;
  readonly denied: boolean;
  readonly loading: boolean;
}

const nothing = {
  ...{ items: null, next: '', hasMore: false, behind: false },
  ...{ error: '', loading: true, denied: false },
};

/**
 * Calls `load` for the first page whenever `key` changes, and for the next ones when asked; what is
 * new joins the list as time passes.
 */
export function useLongList<T extends { readonly id: string }>(
  key: string,
  load: (cursor: string, signal: AbortSignal) => Promise<CursorPage<T>>,
): LongList<T> {
  const [kept, setKept] = useState<Kept<T>>(nothing);
  const [from, setFrom] = useState({ key, cursor: '', turn: 0 });
  const start = from.key === key ? from.cursor : '';
  const latest = useRef(load);
  latest.current = load;
  const stop = useRef(new AbortController());
  const ask = (cursor: string, before: readonly T[]): void => {
    const { signal } = stop.current;
    setKept((was) => ({ ...was, error: '', loading: true, denied: false }));
    latest.current(cursor, signal).then(
      ({ items, page }) => {
        if (signal.aborted) return;
        const [next, hasMore] = [page?.nextCursor ?? '', page?.hasMore === true];
        setKept(({ behind }) => {
          const all = [...before, ...items];
          return { items: all, next, hasMore, behind, error: '', loading: false, denied: false };
        });
      },
      (thrown: unknown) => {
        if (signal.aborted) return;
        const [error, denied] = [messageOf(thrown), isDenied(thrown)];
        setKept((was) => ({ ...was, error, loading: false, denied }));
      },
    );
  };
  const refresh = (): void => {
    const { signal } = stop.current;
    if (document.hidden) return;
    latest.current('', signal).then(
      (found) => {
        if (!signal.aborted) setKept((was) => joined(was, found));
      },
      (thrown: unknown) => {
        if (!signal.aborted) setKept((was) => ({ ...was, error: messageOf(thrown) }));
      },
    );
  };
  useEffect(() => {
    stop.current = new AbortController();
    setKept(nothing);
    ask(start, []);
    const timer = window.setInterval(() => start === '' && refresh(), refreshMs);
    return () => {
      stop.current.abort();
      window.clearInterval(timer);
    };
  }, [key, start, from.turn]);
  const { items, next, hasMore, behind, error, loading, denied } = kept;
  return {
    value: items,
    error,
    loading,
    denied,
    hasMore,
    full: (items?.length ?? 0) >= keptMax,
    later: start !== '' || behind,
    reload: () => (items === null ? setFrom({ ...from, turn: from.turn + 1 }) : ask(next, items)),
    more: () => {
      if (!loading && items !== null) ask(next, items);
    },
    continueFrom: () => setFrom({ key, cursor: next, turn: 0 }),
    restart: () => setFrom({ key, cursor: '', turn: from.turn + 1 }),
  };
}

/** What is kept with a newer first page; as it is while a page is on its way. */
function joined<T extends { readonly id: string }>(
  kept: Kept<T>,
  { items, page }: CursorPage<T>,
): Kept<T> {
  if (kept.items === null || kept.loading) return kept;
  const newest = { items, next: page?.nextCursor ?? '', hasMore: page?.hasMore === true };
  return { ...kept, ...withNewest({ ...kept, items: kept.items }, newest, keptMax), error: '' };
}

/** The end of a long list: loads the next page when it comes near the window. */
export function ListEnd({ of }: { readonly of: LongList<unknown> }): JSX.Element | null {
  const end = useRef<HTMLParagraphElement>(null);
  const { hasMore, full, error, value } = of;
  const waits = hasMore && !full && error === '';
  const more = useRef(of.more);
  more.current = of.more;
  const shown = value?.length ?? 0;
  useEffect(() => {
    if (!waits || end.current === null) return undefined;
    const near = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) more.current();
      },
      { rootMargin: `0px 0px ${nearPx}px 0px` },
    );
    near.observe(end.current);
    return () => near.disconnect();
  }, [waits, shown]);
  if (!hasMore && !of.later) return null;
  return (
    <p class="actions" ref={end}>
      {full && <span class="quiet">{t('common.full', { count: exactNumber(shown) })}</span>}
      {of.later && (
        <button type="button" onClick={of.restart}>
          {t('common.newest')}
        </button>
      )}
      {hasMore && (
        <button type="button" onClick={full ? of.continueFrom : of.more}>
          {t('common.more')}
        </button>
      )}
    </p>
  );
}
