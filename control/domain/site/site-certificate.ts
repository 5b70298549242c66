/** Decides which certificate a site presents, and says its TLS settings as they travel. Pure. */

import type { CertificateRecord } from '../resource-records.ts';
import type { SiteRecord } from '../records.ts';
import { coversHost } from './certificates.ts';
import { hostsOf } from './site.ts';

/** What a choice looks at. */
export type CertificateFacts = Pick<
  CertificateRecord,
  'id' | 'tenantId' | 'dnsNames' | 'managed' | 'notAfter'
>;

type SiteFacts = Pick<SiteRecord, 'primaryHost' | 'aliases' | 'tls' | 'tenantId'>;

/** Whether clients of a site are to be served over TLS. */
export function servesTls({ tls }: Pick<SiteRecord, 'tls'>): boolean {
  return tls?.mode === 'TLS_MODE_MANAGED_ACME' || tls?.mode === 'TLS_MODE_UPLOADED';
}

/** Whether one certificate stands for every host of a site. */
export function coversSite(certificate: CertificateFacts, site: SiteFacts): boolean {
  return hostsOf(site).every((host) => coversHost(certificate.dnsNames ?? [], host));
}

/**
 * Finds the certificate of a site; undefined for none yet. A site that names one has that one; a
 * managed site has, of the managed certificates that cover all its hosts, the one that lasts
 * longest. Cost: one pass over the certificates when it is made, one look-up a site.
 */
export function certificateChooser<T extends CertificateFacts>(
  certificates: Iterable<T>,
): (site: SiteFacts) => T | undefined {
  const byId = new Map<string, T>();
  const managed = new Map<string, T[]>();
  for (const one of certificates) {
    byId.set(one.id, one);
    if (one.managed !== true) continue;
    for (const name of one.dnsNames ?? []) {
      const key = name.toLowerCase();
      const known = managed.get(key);
      if (known === undefined) managed.set(key, [one]);
      else known.push(one);
    }
  }
  return (site) => {
    if (!servesTls(site)) return undefined;
    const { mode, certId = '' } = site.tls ?? {};
    if (mode === 'TLS_MODE_UPLOADED' || byId.has(certId)) return byId.get(certId);
    const host = hostsOf(site)[0] ?? '';
    const wildcard = `*${host.slice(host.indexOf('.'))}`;
    const candidates = [...(managed.get(host) ?? []), ...(managed.get(wildcard) ?? [])];
    return candidates
      .filter((one) => one.tenantId === site.tenantId && coversSite(one, site))
      .sort((left, right) => endOf(right).localeCompare(endOf(left), 'en'))[0];
  };
}

function endOf({ notAfter }: CertificateFacts): string {
  return typeof notAfter === 'string' ? notAfter : '';
}

/** TLS settings of a site as they travel to nodes. */
export interface TravelingTls {
  readonly certificateId: string;
  readonly minMinorVersion: number;
  readonly httpBehavior: string;
  readonly strictTransportSecurity: string;
}

const behaviors: Readonly<Record<string, string>> = {
  TLS_HTTP_BEHAVIOR_REDIRECT_TO_HTTPS: 'redirect',
  TLS_HTTP_BEHAVIOR_ACME_ONLY: 'acme_only',
};

/** The settings with a chosen certificate; '' while there is none. */
export function travelingTls(
  { tls = {} }: Pick<SiteRecord, 'tls'>,
  certificateId: string,
): TravelingTls {
  const { hstsMaxAgeSeconds = 0, hstsIncludeSubdomains = false } = tls;
  const subdomains = hstsIncludeSubdomains ? '; includeSubDomains' : '';
  return {
    certificateId,
    minMinorVersion: tls.minVersion === 'TLS_VERSION_1_3' ? 3 : 2,
    httpBehavior: behaviors[tls.httpBehavior ?? ''] ?? 'both',
    strictTransportSecurity:
      hstsMaxAgeSeconds > 0 ? `max-age=${hstsMaxAgeSeconds}${subdomains}` : '',
  };
}
