/** Which origin of a site a path belongs to; see `PathPrefixes`. */

import { certificateFields } from '../../base/certificate-fields.ts';
import type { FieldChange } from '../base/field-changes.ts';
import type { DeliveryConfig } from '../contract/delivery.ts';
import type { SiteConfig, UpstreamConfig } from '../contract/site.ts';
import { PathPrefixes, prefixBytes } from '../http/path-prefixes.ts';
import { Canary } from './canary.ts';
import type { EndpointPool } from '../upstream/endpoint-pool.ts';
import { changedFields, type OriginFields } from '../upstream/origin-fields.ts';
import { StickyOrigins } from '../upstream/sticky-origins.ts';
import type { Upstream, UpstreamRegistry } from '../upstream/upstream.ts';

/** Where a request of a site goes. */
export interface OriginChoice {
  readonly upstream: Upstream;
  readonly upstreamId: string;
  /** '' where no route was taken. */
  readonly routeId: string;
  /** Bytes taken off the front of the path. */
  readonly skip: number;
  /** Fields that the upstream and the site set; null for none. */
  readonly fields: OriginFields | null;
  /** Which address visitors stay with; null where any may answer. */
  readonly sticky: StickyOrigins | null;
  /** A second pool, and who goes there instead; null for none. */
  readonly canary: { readonly rule: Canary; readonly choice: OriginChoice } | null;
  /** `fields` of a request whose cookies are written anew; null where they are replaced anyway. */
  readonly fieldsWithoutCookie: OriginFields | null;
}

/** The origins of one site. */
export type PathRoutes = PathPrefixes<OriginChoice>;

/** The origins of a site. Holds every upstream of it; `releaseUpstreams` gives them back. */
export function holdRoutes(site: SiteConfig, upstreams: UpstreamRegistry): PathRoutes {
  const changes = [...(site.delivery?.requestFields ?? []), ...ownFields(site.delivery)];
  const use = (config: UpstreamConfig): Omit<OriginChoice, 'routeId' | 'skip'> => {
    const upstream = upstreams.hold(config);
    const fields = changedFields(upstream.fields, changes);
    const sticky = stickyOrigins(site, config.id, upstream.addresses);
    const replaced = fields?.names.includes('cookie') === true;
    const cookie = { name: 'cookie', value: '', remove: true };
    const fieldsWithoutCookie =
      sticky === null || replaced ? null : changedFields(upstream.fields, [...changes, cookie]);
    const canary = null;
    return { upstream, upstreamId: config.id, fields, sticky, canary, fieldsWithoutCookie };
  };
  const prefixes = (site.routes ?? []).map((route) => {
    const { id: routeId = '', canary } = route;
    const bytes = prefixBytes(route.pathPrefix);
    const skip = route.stripPrefix ? bytes.length : 0;
    const choice = { ...use(route.upstream), routeId, skip };
    if (canary === undefined) return { bytes, choice };
    const other = { ...use(canary.upstream), routeId, skip };
    return {
      bytes,
      choice: { ...choice, canary: { rule: new Canary(canary, site.id), choice: other } },
    };
  });
  const all = { ...use(site.upstream), routeId: '', skip: 0 };
  return new PathPrefixes(prefixes, site.unmatchedNotFound === true ? null : all);
}

/** Gives back what was held. */
export function releaseUpstreams(site: SiteConfig, upstreams: UpstreamRegistry): void {
  for (const { upstream, canary } of site.routes ?? []) {
    upstreams.release(upstream);
    if (canary !== undefined) upstreams.release(canary.upstream);
  }
  upstreams.release(site.upstream);
}

function stickyOrigins(
  { id: siteId, upstream, delivery, challengeKeys = [] }: SiteConfig,
  upstreamId: string,
  addresses: readonly EndpointPool[],
): StickyOrigins | null {
  const config = delivery?.stickySessions;
  if (config === undefined || challengeKeys.length === 0) return null;
  const scope = { siteId, upstreamId, main: upstreamId === upstream.id };
  return new StickyOrigins(config, challengeKeys, scope, addresses);
}

/** Fields that only the product says: those of clients are taken away. */
function ownFields(delivery: DeliveryConfig | undefined): FieldChange[] {
  const { forwardAuth = [], clientCertificates } = delivery ?? {};
  const names = new Set(forwardAuth.flatMap(({ copiedFields }) => copiedFields));
  for (const name of clientCertificates === undefined ? [] : certificateFields) names.add(name);
  return [...names].map((name) => ({ name, value: '', remove: true }));
}
