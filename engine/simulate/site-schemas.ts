/**
 * The checks of API documents of the site that was simulated last, as they serve. Compiled when
 * asked for; what they find of a simulated request is not counted.
 */

import type { SiteTable } from '../contract/site.ts';
import { SchemaRegistry, type SchemaServices } from '../schema/schema-registry.ts';
import type { SiteChecks } from '../schema/site-checks.ts';

/** Checks by site. */
export class SiteSchemas {
  private readonly registry: SchemaRegistry;
  private table: SiteTable | null = null;

  constructor(pattern: SchemaServices['pattern']) {
    // Front threads have reported a fault of the same checks.
    this.registry = new SchemaRegistry({ pattern, onFault: () => undefined });
  }

  /** Takes over what serves. */
  use(table: SiteTable): void {
    this.table = table;
    this.registry.prepare([]);
  }

  /** The checks of a site; null for none and for sites that do not serve. Cost: compiles them. */
  of(siteId: string): SiteChecks | null {
    const site = this.table?.sites.find(({ id }) => id === siteId);
    return site === undefined ? null : (this.registry.prepare([site]).get(siteId) ?? null);
  }
}
