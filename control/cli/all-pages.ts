/** Reads every item of a list, page by page. */

/** A page of a list, as the API answers it. */
export interface PageOf<T> {
  readonly items: readonly T[];
  readonly page?: { readonly total: bigint } | undefined;
}

const pageSize = 200;

/** Every item. Cost: one call for each 200. */
export async function allPages<T>(
  ask: (page: { page: number; pageSize: number }) => Promise<PageOf<T>>,
): Promise<T[]> {
  const found: T[] = [];
  for (let page = 1; ; page++) {
    const { items, page: shown } = await ask({ page, pageSize });
    found.push(...items);
    if (items.length === 0 || BigInt(found.length) >= (shown?.total ?? 0n)) return found;
  }
}
