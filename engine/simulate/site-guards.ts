/** Guards and delivery of the sites that serve, for questions about them; made when asked for. */

import type { SiteConfig, SiteTable } from '../contract/site.ts';
import { contentOf, type SiteContent } from '../detect/learning/site-content.ts';
import type { GuardServices } from '../guard/guard.ts';
import { scopesOf } from '../guard/bot/challenge-scope.ts';
import { compileGuards, type GuardChain } from '../guard/guard-chain.ts';
import { SiteDelivery } from '../guard/site-delivery.ts';
import { PathPrefixes, prefixBytes } from '../http/path-prefixes.ts';

/** Guards by site. */
export class SiteGuards {
  private readonly services: GuardServices;
  private table: SiteTable | null = null;
  private readonly made = new Map<string, GuardChain | null>();

  constructor(services: GuardServices) {
    this.services = services;
  }

  /** Takes over what serves. */
  use(table: SiteTable): void {
    this.table = table;
    this.made.clear();
  }

  /** What a failed inspection of a site leads to. */
  failPolicyOf(siteId: string): SiteConfig['waf']['failPolicy'] {
    return this.table?.sites.find(({ id }) => id === siteId)?.waf.failPolicy ?? 'closed';
  }

  /** Whether a site has text fields of gRPC messages inspected. */
  grpcFieldsOf(siteId: string): boolean {
    return this.table?.sites.find(({ id }) => id === siteId)?.grpcFields ?? false;
  }

  /** What is content in the values of a site's requests; null for nothing. */
  contentOf(siteId: string): SiteContent | null {
    const site = this.table?.sites.find(({ id }) => id === siteId);
    return site === undefined ? null : contentOf(site);
  }

  /** What a site answers by itself, and how long bodies may be; null where nothing is set. */
  deliveryOf(siteId: string): SiteDelivery | null {
    const site = this.table?.sites.find(({ id }) => id === siteId);
    if (site?.delivery === undefined) return null;
    return new SiteDelivery(site.delivery, scopesOf(site).size > 0);
  }

  /** Which of its origins a path is for; null for sites that do not serve. */
  routesOf(siteId: string): PathPrefixes<object> | null {
    const site = this.table?.sites.find(({ id }) => id === siteId);
    if (site === undefined) return null;
    const prefixes = (site.routes ?? []).map((route) => {
      return { bytes: prefixBytes(route.pathPrefix), choice: route };
    });
    return new PathPrefixes<object>(prefixes, site.unmatchedNotFound === true ? null : site);
  }

  /** The guards of a site; null for none and for sites that do not serve. */
  of(siteId: string): GuardChain | null {
    const made = this.made.get(siteId);
    if (made !== undefined) return made;
    const site = this.table?.sites.find(({ id }) => id === siteId);
    if (site === undefined) return null;
    const guards = compileGuards(site, this.services);
    this.made.set(siteId, guards);
    return guards;
  }
}
