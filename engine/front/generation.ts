/**
 * One generation of what the front serves: routes by host, each with its upstream and its
 * inspector, and the count of requests that still run on it. Never builds an inspector.
 */

import type { Inspector } from '../contract/inspection.ts';
import type { SiteConfig, SiteTable } from '../contract/site.ts';
import type { TrustConfig } from '../contract/trust.ts';
import { contentOf, type SiteContent } from '../detect/learning/site-content.ts';
import { scopesOf } from '../guard/bot/challenge-scope.ts';
import { ClientIpResolver } from '../guard/client-ip.ts';
import type { GuardKind, GuardServices } from '../guard/guard.ts';
import { compileGuards, type GuardChain } from '../guard/guard-chain.ts';
import type { Learner, SiteLearning } from '../schema/learning/learner.ts';
import type { SchemaRegistry } from '../schema/schema-registry.ts';
import type { SiteChecks } from '../schema/site-checks.ts';
import type { UpstreamRegistry } from '../upstream/upstream.ts';
import { holdRoutes, releaseUpstreams, type PathRoutes } from './path-routes.ts';
import { SiteDelivery } from '../guard/site-delivery.ts';

/** Where a request goes. */
export interface Route {
  readonly site: SiteConfig;
  readonly origins: PathRoutes;
  /** Null when the site has no inspection. */
  readonly inspector: Inspector | null;
  /** Null when the site has no guards. */
  readonly guards: GuardChain | null;
  /** Null where no API document is in use. */
  readonly schema: SiteChecks | null;
  /** Null where no endpoint learns. */
  readonly learning: SiteLearning | null;
  /** What is content in the values of its requests; null for nothing. */
  readonly content: SiteContent | null;
  /** Null where only the peer counts. */
  readonly clientIp: ClientIpResolver | null;
  /** Null where nothing of it is set. */
  readonly delivery: SiteDelivery | null;
}

/** What a generation is made of. */
export interface GenerationOptions {
  readonly routes: SiteTable;
  /** The inspector of a site's policy; null turns inspection off. */
  readonly inspectorOf: (site: SiteConfig) => Inspector | null;
  readonly upstreams: UpstreamRegistry;
  readonly guardServices: GuardServices;
  /** Default: all kinds of guards. */
  readonly guardKinds?: readonly GuardKind[];
  /** Compiles checks of API documents. */
  readonly schemas: SchemaRegistry;
  /** Learns the structure of bodies. */
  readonly learner: Learner;
  /** Called once, when it was retired and its last request has finished. */
  readonly onReleased: () => void;
}

/** Immutable once made, but for the count of its users. */
export class Generation {
  readonly revision: string;
  private readonly exact = new Map<string, Route>();
  private readonly wildcard = new Map<string, Route>();
  private fallback: Route | null = null;
  private readonly resolvers = new Map<TrustConfig, ClientIpResolver>();
  private readonly options: GenerationOptions;
  /** One for being current, one per running request. */
  private users = 1;

  constructor(options: GenerationOptions) {
    this.options = options;
    this.revision = options.routes.revision;
    const schemas = options.schemas.prepare(options.routes.sites);
    const learning = options.learner.prepare(options.routes.sites);
    for (const site of options.routes.sites) {
      this.addSite(site, schemas.get(site.id) ?? null, learning.get(site.id) ?? null);
    }
  }

  private addSite(
    site: SiteConfig,
    schema: SiteChecks | null,
    learning: SiteLearning | null,
  ): void {
    const origins = holdRoutes(site, this.options.upstreams);
    const inspector = site.waf.enabled ? this.options.inspectorOf(site) : null;
    const clientIp = site.trust === undefined ? null : this.resolverOf(site.trust);
    const { guardServices, guardKinds } = this.options;
    const guards = compileGuards(site, guardServices, guardKinds);
    const challenges = scopesOf(site).size > 0;
    const delivery =
      site.delivery === undefined ? null : new SiteDelivery(site.delivery, challenges);
    const content = contentOf(site);
    const what = { site, origins, inspector, guards, schema, learning, content, clientIp };
    const route: Route = { ...what, delivery };
    for (const host of site.hosts) {
      if (host === '*') this.fallback ??= route;
      else if (host.startsWith('*.')) this.wildcard.set(host.slice(1), route);
      else this.exact.set(host, route);
    }
  }

  /** Sites that share a profile share what is made of it. */
  private resolverOf(trust: TrustConfig): ClientIpResolver {
    let resolver = this.resolvers.get(trust);
    if (resolver === undefined) {
      resolver = new ClientIpResolver(trust);
      this.resolvers.set(trust, resolver);
    }
    return resolver;
  }

  /**
   * The route for a host without port, lower case: exact, then `*.` for its first label, then `*`.
   * Null when nobody answers for it.
   */
  find(host: string): Route | null {
    const exact = this.exact.get(host);
    if (exact !== undefined) return exact;
    if (this.wildcard.size > 0) {
      const dot = host.indexOf('.');
      const route = dot > 0 ? this.wildcard.get(host.slice(dot)) : undefined;
      if (route !== undefined) return route;
    }
    return this.fallback;
  }

  /** A request begins on it. */
  acquire(): void {
    this.users++;
  }

  /** A request ended on it, or it stopped being current. */
  release(): void {
    if (--this.users > 0) return;
    const { routes, upstreams } = this.options;
    for (const site of routes.sites) releaseUpstreams(site, upstreams);
    this.options.onReleased();
  }
}
