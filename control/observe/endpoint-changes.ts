/** How often the endpoints of each site changed since the start, for what is made of them. */

import type { CounterDelta } from '../../proto/gen/waf/runtime/v1/observation_pb.ts';
import { observationLimits } from '../limits/observation-limits.ts';
import { changesEndpoints } from './endpoint-store.ts';
import { separator } from './step-keys.ts';

/** Numbers that grow with each change. */
export class EndpointChanges {
  readonly #changed = new Map<string, number>();
  #latest = 0;
  /** What sites have that are not in the map. */
  #others = 0;

  /** Differs from what it was before the endpoints of the site changed. */
  of(tenantId: string, siteId: string): number {
    return this.#changed.get(keyOf(tenantId, siteId)) ?? this.#others;
  }

  /** Notes the changes of a write: it is read before it is on disk, and not when that fails. */
  async during<T>(tenantId: string, deltas: readonly CounterDelta[], run: Promise<T>): Promise<T> {
    const sites = deltas.filter((delta) => changesEndpoints(delta)).map(({ siteId }) => siteId);
    const note = (): void => sites.forEach((siteId) => this.#note(tenantId, siteId));
    note();
    try {
      return await run;
    } catch (error) {
      note();
      throw error;
    }
  }

  #note(tenantId: string, siteId: string): void {
    const key = keyOf(tenantId, siteId);
    this.#latest++;
    if (!this.#changed.has(key) && this.#changed.size >= observationLimits.changedSitesMax) {
      this.#changed.clear();
      this.#others = this.#latest;
    }
    this.#changed.set(key, this.#latest);
  }
}

function keyOf(tenantId: string, siteId: string): string {
  return `${tenantId}${separator}${siteId}`;
}
