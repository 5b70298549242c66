/** What a site may be: required fields, hosts that nobody else has, usable origins. */

import {
  SiteSchema,
  type SiteJson,
  type SiteUpstreamJson,
} from '../../../proto/gen/waf/v1/site_pb.ts';
import {
  UpstreamEndpointSchema,
  type UpstreamEndpointJson,
} from '../../../proto/gen/waf/v1/common_pb.ts';
import { canonicalJson } from '../canonical-json.ts';
import { invalidField, refusal } from '../errors.ts';
import { checkName } from '../names.ts';
import { checkBounds } from '../proto-bounds.ts';
import { checkDelivery } from './delivery.ts';
import { normalizeHost } from './hosts.ts';
import { checkRequestHeaders } from './request-headers.ts';
import { checkBotProtection, checkTls, type CertificateFacts } from './site-protection.ts';
import type { SiteRecord } from '../records.ts';
import { checkUpstreamTls } from './upstream-tls.ts';

type OwnedSite = Pick<SiteRecord, 'id'> & Partial<Pick<SiteRecord, 'tenantId'>>;

/** What a site is checked against. */
export interface SiteSurroundings {
  /** Sites of that name; the site itself may be among them. */
  sitesNamed(name: string): Iterable<OwnedSite>;
  /** Sites that answer for a host; the site itself may be among them. */
  sitesOfHost(host: string): Iterable<OwnedSite>;
  /** Tenant of the site; names are unique within it. Absent: among all. */
  readonly tenantId?: string;
  upstreamExists(id: string): boolean;
  /** Whether a pool takes part in serving. Absent: every pool does. */
  upstreamActive?(id: string): boolean;
  policyExists(id: string): boolean;
  /** Why a policy that exists cannot protect a site; '' when it can. */
  policyProblem?(id: string): string;
  /** What is known of a certificate. Absent: certificates cannot be named. */
  certificate?(id: string): CertificateFacts | undefined;
  /** Whether a wildcard of this host could be proved to an ACME authority. Absent: always. */
  canProveDns?(host: string): boolean;
  /** Absent: IP lists are not checked. */
  ipListExists?(id: string): boolean;
}

/** An origin's address. */
export interface ParsedEndpoint {
  readonly tls: boolean;
  readonly host: string;
  readonly port: number;
}

/**
 * The site with its hosts normalized. Errors: invalid_argument, already_exists, naming the field.
 */
export function checkSite(site: SiteJson, around: SiteSurroundings): SiteJson {
  const name = checkName(site.name, 'site.name');
  checkBounds(SiteSchema, site, 'site');
  const primaryHost = normalizeHost(site.primaryHost ?? '', 'site.primaryHost');
  const aliases = checkAliases(site.aliases ?? [], primaryHost);
  checkUpstreams(site.upstreams ?? [], around);
  checkWaf(site, around);
  const hosted: SiteJson = { ...site, name, primaryHost, aliases };
  const tls = checkTls(hosted, around);
  const botProtection = checkBotProtection(site.botProtection, around);
  const delivery = checkDelivery(site.delivery);
  const checked: SiteJson = {
    ...hosted,
    ...(tls === undefined ? {} : { tls }),
    ...(botProtection === undefined ? {} : { botProtection }),
    ...(delivery === undefined ? {} : { delivery }),
  };
  refuseOverlap(checked, around);
  return checked;
}

/** Every host that a site answers for. */
export function hostsOf(site: Pick<SiteJson, 'primaryHost' | 'aliases'>): string[] {
  return [site.primaryHost ?? '', ...(site.aliases ?? [])];
}

/** Reads `http://host:port`. Errors: invalid_argument at `field`. */
export function parseEndpointUrl(text: string, field: string): ParsedEndpoint {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw invalidField(field, 'must be a URL, for example http://10.0.0.5:8080');
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw invalidField(field, 'must begin with http:// or https://');
  }
  if (url.username !== '' || url.password !== '') {
    throw invalidField(field, 'must not hold a user name or password');
  }
  if ((url.pathname !== '' && url.pathname !== '/') || url.search !== '' || url.hash !== '') {
    throw invalidField(field, 'must end after the port: paths are routed, not configured here');
  }
  if (url.hostname === '') throw invalidField(field, 'must name a host');
  if (url.port === '0') throw invalidField(field, 'must have a port between 1 and 65535');
  const tls = url.protocol === 'https:';
  const port = url.port === '' ? (tls ? 443 : 80) : Number(url.port);
  return { tls, host: url.hostname.replace(/^\[|\]$/g, ''), port };
}

/** Checks one endpoint and returns its address. */
export function checkEndpoint(endpoint: UpstreamEndpointJson, field: string): ParsedEndpoint {
  checkBounds(UpstreamEndpointSchema, endpoint, field);
  return parseEndpointUrl(endpoint.url ?? '', `${field}.url`);
}

function checkAliases(aliases: readonly string[], primaryHost: string): string[] {
  const seen = new Set([primaryHost]);
  return aliases.map((alias, at) => {
    const host = normalizeHost(alias, `site.aliases[${at}]`);
    if (seen.has(host)) throw invalidField(`site.aliases[${at}]`, 'is a host of this site already');
    seen.add(host);
    return host;
  });
}

function checkUpstreams(upstreams: readonly SiteUpstreamJson[], around: SiteSurroundings): void {
  let tls: boolean | undefined;
  upstreams.forEach((upstream, at) => {
    const field = `site.upstreams[${at}]`;
    const pool = upstream.upstreamId ?? '';
    if ((pool === '') === (upstream.inline === undefined)) {
      throw invalidField(field, 'needs either upstreamId or inline');
    }
    if (pool !== '') {
      if (upstreams.length > 1) throw invalidField(field, 'a pool must be the only upstream');
      if (Object.keys(upstream.requestHeaders ?? {}).length > 0) {
        const problem = 'is for inline endpoints: a pool has headers of its own';
        throw invalidField(`${field}.requestHeaders`, problem);
      }
      if (upstream.tls !== undefined) {
        throw invalidField(`${field}.tls`, 'is for inline endpoints: a pool has its own');
      }
      if (!around.upstreamExists(pool)) throw invalidField(`${field}.upstreamId`, 'does not exist');
      if (around.upstreamActive?.(pool) === false) {
        throw refusal('failed_precondition', `${field}.upstreamId: the pool is disabled`);
      }
      return;
    }
    checkRequestHeaders(upstream.requestHeaders ?? {}, `${field}.requestHeaders`);
    const parsed = checkEndpoint(upstream.inline ?? {}, `${field}.inline`);
    if (tls !== undefined && tls !== parsed.tls) {
      throw invalidField(`${field}.inline.url`, 'must have the scheme of the other endpoints');
    }
    tls = parsed.tls;
    checkUpstreamTls(upstream.tls, parsed.tls, `${field}.tls`);
    if (canonicalJson(upstream.tls ?? {}) !== canonicalJson(upstreams[0]?.tls ?? {})) {
      throw invalidField(`${field}.tls`, 'must be that of the other endpoints');
    }
  });
}

function checkWaf(site: SiteJson, around: SiteSurroundings): void {
  const policyId = site.waf?.policyId ?? '';
  if (policyId !== '' && !around.policyExists(policyId)) {
    throw invalidField('site.waf.policyId', 'does not exist');
  }
  const problem = policyId === '' ? '' : (around.policyProblem?.(policyId) ?? '');
  if (problem !== '') throw refusal('failed_precondition', `site.waf.policyId: ${problem}`);
}

function refuseOverlap(site: SiteJson, around: SiteSurroundings): void {
  const { tenantId } = around;
  for (const other of around.sitesNamed(site.name ?? '')) {
    if (other.id === site.id || other.tenantId !== (tenantId ?? other.tenantId)) continue;
    throw refusal('already_exists', 'site.name: another site has it');
  }
  hostsOf(site).forEach((host, at) => {
    for (const other of around.sitesOfHost(host)) {
      if (other.id === site.id) continue;
      const field = at === 0 ? 'site.primaryHost' : `site.aliases[${at - 1}]`;
      throw refusal('already_exists', `${field}: another site answers for this host`);
    }
  });
}
