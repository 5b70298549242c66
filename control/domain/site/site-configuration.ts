/**
 * The portable form of a site: the site with all it needs, and the identifiers that the target must
 * know by itself. Never holds what only the source can know, such as tenants and revisions.
 */

import type {
  SiteConfigurationJson,
  SiteJson,
  SitePolicyOverrideJson,
  SiteRoutingJson,
} from '../../../proto/gen/waf/v1/site_pb.ts';
import type { UpstreamJson } from '../../../proto/gen/waf/v1/upstream_pb.ts';
import { canonicalJson } from '../canonical-json.ts';
import { invalidField } from '../errors.ts';

/** Version that every document states. */
export const configurationApiVersion = 'waf.io/v1';
/** Kind of one site. */
export const configurationKind = 'SiteConfiguration';
/** Kind of several. */
export const archiveKind = 'SiteConfigurationArchive';

const upstreamsMax = 300;

/** What an export is made of. */
export interface SiteExport {
  readonly site: SiteJson;
  readonly routing: SiteRoutingJson | undefined;
  readonly override: SitePolicyOverrideJson | undefined;
  /** Every pool that the site or its routes name. */
  readonly upstreams: readonly UpstreamJson[];
  /** PEM texts in base64, as JSON has bytes. */
  readonly certificate: SiteConfigurationJson['certificate'] | undefined;
}

/** The portable form. */
export function toConfiguration(from: SiteExport): SiteConfigurationJson {
  const { routing, override, certificate } = from;
  return {
    apiVersion: configurationApiVersion,
    kind: configurationKind,
    site: portableSite(from.site),
    ...(routing === undefined ? {} : { routing }),
    ...(override === undefined ? {} : { policyOverride: portableOverride(override) }),
    upstreams: from.upstreams.map(portableUpstream),
    ...(certificate === undefined ? {} : { certificate }),
    containsSecrets: certificate !== undefined,
    externalReferences: referencesOf(from.site),
  };
}

/** Errors: invalid_argument naming the field. */
export function checkConfiguration(configuration: SiteConfigurationJson): void {
  const at = 'configuration';
  if (configuration.apiVersion !== configurationApiVersion) {
    throw invalidField(`${at}.apiVersion`, `must be ${configurationApiVersion}`);
  }
  if (configuration.kind !== configurationKind) {
    throw invalidField(`${at}.kind`, `must be ${configurationKind}`);
  }
  if (configuration.site === undefined) throw invalidField(`${at}.site`, 'is required');
  const upstreams = configuration.upstreams ?? [];
  if (upstreams.length > upstreamsMax) {
    throw invalidField(`${at}.upstreams`, `has at most ${upstreamsMax} entries`);
  }
  const ids = new Set<string>();
  upstreams.forEach(({ id = '' }, index) => {
    const field = `${at}.upstreams[${index}].id`;
    if (id === '') throw invalidField(field, 'is required: the site and its routes name it');
    if (ids.has(id)) throw invalidField(field, 'is the id of another pool here');
    ids.add(id);
  });
}

/** Whether two pools send requests the same way, whatever their ids and times. */
export function samePool(left: UpstreamJson, right: UpstreamJson): boolean {
  const bare = (pool: UpstreamJson): string => {
    const { id: _id, ...rest } = portableUpstream(pool);
    return canonicalJson(rest);
  };
  return bare(left) === bare(right);
}

/** The site with its pools under the target's ids. */
export function withPools(site: SiteJson, ids: ReadonlyMap<string, string>): SiteJson {
  const upstreams = (site.upstreams ?? []).map((one) => {
    const id = one.upstreamId ?? '';
    return id === '' ? one : { ...one, upstreamId: ids.get(id) ?? id };
  });
  return { ...site, upstreams };
}

/** The routing with its pools under the target's ids; routes get ids of the target. */
export function routingWithPools(
  routing: SiteRoutingJson,
  ids: ReadonlyMap<string, string>,
): SiteRoutingJson {
  const here = (id = ''): string => ids.get(id) ?? id;
  const routes = (routing.routes ?? []).map(({ id: _id, upstreamId, canary, ...rest }) => ({
    ...rest,
    upstreamId: here(upstreamId),
    ...(canary && { canary: { ...canary, upstreamId: here(canary.upstreamId) } }),
  }));
  return { ...routing, routes };
}

/** What a name makes of a file name: letters, digits and dashes. */
export function fileNameOf(name: string): string {
  const plain = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 64);
  return `${plain === '' ? 'site' : plain}.site.json`;
}

function portableSite(site: SiteJson): SiteJson {
  const { tenantId: _t, createdAt: _c, updatedAt: _u, deletedAt: _d, revision: _r, ...rest } = site;
  return rest;
}

function portableOverride(override: SitePolicyOverrideJson): SitePolicyOverrideJson {
  const { id: _i, tenantId: _t, createdAt: _c, updatedAt: _u, ...rest } = override;
  return rest;
}

function portableUpstream(pool: UpstreamJson): UpstreamJson {
  const { tenantId: _t, createdAt: _c, updatedAt: _u, deletedAt: _d, ...rest } = pool;
  return rest;
}

function referencesOf(site: SiteJson): string[] {
  const policyId = site.waf?.policyId ?? '';
  const lists = site.botProtection?.trustedIpListIds ?? [];
  return [
    ...(policyId === '' ? [] : [`policy/${policyId}`]),
    ...lists.map((id) => `ip-list/${id}`),
  ];
}
