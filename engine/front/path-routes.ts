/** Which origin of a site a path belongs to; see `PathPrefixes`. */

import { certificateFields } from '../../base/certificate-fields.ts';
import type { DeliveryConfig, FieldChangeConfig } from '../contract/delivery.ts';
import type { SiteConfig, UpstreamConfig } from '../contract/site.ts';
import { PathPrefixes, prefixBytes } from '../http/path-prefixes.ts';
import { changedFields, type OriginFields } from '../upstream/origin-fields.ts';
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
}

/** The origins of one site. */
export type PathRoutes = PathPrefixes<OriginChoice>;

/** The origins of a site. Holds every upstream of it; `releaseUpstreams` gives them back. */
export function holdRoutes(site: SiteConfig, upstreams: UpstreamRegistry): PathRoutes {
  const changes = [...(site.delivery?.requestFields ?? []), ...ownFields(site.delivery)];
  const use = (config: UpstreamConfig) => {
    const upstream = upstreams.hold(config);
    const fields = changedFields(upstream.fields, changes);
    return { upstream, upstreamId: config.id, fields };
  };
  const prefixes = (site.routes ?? []).map(({ id = '', pathPrefix, upstream, stripPrefix }) => {
    const bytes = prefixBytes(pathPrefix);
    const skip = stripPrefix ? bytes.length : 0;
    return { bytes, choice: { ...use(upstream), routeId: id, skip } };
  });
  const all = { ...use(site.upstream), routeId: '', skip: 0 };
  return new PathPrefixes(prefixes, site.unmatchedNotFound === true ? null : all);
}

/** Gives back what was held. */
export function releaseUpstreams(site: SiteConfig, upstreams: UpstreamRegistry): void {
  for (const { upstream } of site.routes ?? []) upstreams.release(upstream);
  upstreams.release(site.upstream);
}

/** Fields that only the product says: those of clients are taken away. */
function ownFields(delivery: DeliveryConfig | undefined): FieldChangeConfig[] {
  const { forwardAuth = [], clientCertificates } = delivery ?? {};
  const names = new Set(forwardAuth.flatMap(({ copiedFields }) => copiedFields));
  for (const name of clientCertificates === undefined ? [] : certificateFields) names.add(name);
  return [...names].map((name) => ({ name, value: '', remove: true }));
}
