/** Counts what a tenant has stored that is not enforced yet. */

import type { Caller } from '../../auth/permissions.ts';
import { unenforcedIn, type ControlJson } from '../../domain/enforcement.ts';
import { collections } from '../../store/collection-list.ts';
import type { Collection } from '../../store/collections.ts';
import type { Identified } from '../../store/interface.ts';
import type { ReadStore } from '../../store/store.ts';

/** Sentences with counts. Cost: reads sites, bindings, rules, limits and certificates. */
export function unenforcedOf(store: ReadStore, { tenantId }: Caller): string[] {
  return unenforcedIn((name) => {
    const found = collections.find((one) => one.name === name);
    if (found === undefined) throw new Error(`there is no collection ${name}`);
    const records = store.list(found as Collection<Identified>) as (Identified & ControlJson)[];
    return records.filter((one) => [undefined, tenantId].includes(one['tenantId'] as string));
  });
}
