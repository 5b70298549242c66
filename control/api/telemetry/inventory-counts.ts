/**
 * The sizes of each site's API inventory, counted again only after a change: what metrics ask for
 * every few seconds must not read every endpoint.
 */

import { metricLimits } from '../../limits/observation-limits.ts';
import type { CounterStore } from '../../observe/counter-store.ts';
import { apiAssets } from '../../store/api-collections.ts';
import type { Store } from '../../store/store.ts';
import { endpointsOf, isHidden } from './endpoints.ts';

/** Sizes of one inventory. */
export interface InventorySize {
  readonly assets: number;
  readonly cataloged: number;
  readonly hidden: number;
  /** Requests whose endpoint found no place. */
  readonly omitted: number;
}

interface Counted {
  readonly size: InventorySize;
  readonly seenChanges: number;
  readonly assetChanges: number;
}

/** Sizes by site. */
export class InventoryCounts {
  readonly #store: Store;
  readonly #counters: CounterStore;
  readonly #counted = new Map<string, Counted>();

  constructor(store: Store, counters: CounterStore) {
    this.#store = store;
    this.#counters = counters;
  }

  /** Cost: two numbers compared, or after a change one pass over the site's endpoints. */
  of(tenantId: string, siteId: string): InventorySize {
    const key = `${tenantId} ${siteId}`;
    const seenChanges = this.#counters.endpointChanges(tenantId, siteId);
    const assetChanges = this.#store.changesOf([apiAssets.name]);
    const known = this.#counted.get(key);
    if (known?.seenChanges === seenChanges && known.assetChanges === assetChanges) {
      return known.size;
    }
    const size = this.#count(tenantId, siteId);
    // Sites that are gone would stay for ever.
    if (this.#counted.size >= metricLimits.sitesMax && known === undefined) this.#counted.clear();
    this.#counted.set(key, { size, seenChanges, assetChanges });
    return size;
  }

  #count(tenantId: string, siteId: string): InventorySize {
    const parts = { store: this.#store, counters: this.#counters };
    const all = endpointsOf(parts, tenantId, siteId);
    return {
      assets: all.length,
      cataloged: all.filter(({ record }) => record?.cataloged === true).length,
      hidden: all.filter(isHidden).length,
      omitted: this.#counters.endpoints(tenantId, siteId).omitted,
    };
  }
}
