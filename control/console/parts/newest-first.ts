/** How records that came meanwhile join a list that is kept, the newest first. */

/** What a list keeps. */
export interface NewestFirst<T> {
  readonly items: readonly T[];
  /** The cursor after the last record. */
  readonly next: string;
  readonly hasMore: boolean;
  /** Whether newer records than the first one are left out. */
  readonly behind: boolean;
}

/**
 * The list with the records of a newer first page that it does not have. Where none of them is
 * known, records between are missing: a list of one page begins anew. A list of more pages is kept
 * as it is and says that newer ones are left out, as does one that would grow past `most` records.
 */
export function withNewest<T extends { readonly id: string }>(
  kept: NewestFirst<T>,
  page: Omit<NewestFirst<T>, 'behind'>,
  most: number,
): NewestFirst<T> {
  const known = new Set(kept.items.map(({ id }) => id));
  const place = page.items.findIndex(({ id }) => known.has(id));
  const fresh = place < 0 ? page.items : page.items.slice(0, place);
  if (fresh.length === 0) return kept;
  if (place < 0 && kept.items.length <= page.items.length) return { ...page, behind: false };
  if (place < 0 || kept.items.length + fresh.length > most) return { ...kept, behind: true };
  return { ...kept, items: [...fresh, ...kept.items] };
}
