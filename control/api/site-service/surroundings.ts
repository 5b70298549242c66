/** What a site is checked against. */

import { providersFor } from '../../domain/site/dns-providers.ts';
import type { PolicyRecord, SiteRecord } from '../../domain/records.ts';
import type { SiteSurroundings } from '../../domain/site/site.ts';
import {
  certificates,
  dnsProviders,
  ipLists,
  policies,
  sites,
  upstreams,
} from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';
import { ours, ownedBy } from '../resource/owned.ts';

/** The other sites, and the pools, policies, certificates and providers of a tenant. */
export function surroundingsIn(
  store: ReadStore,
  tenantId: string,
  nowMs: number,
): Required<SiteSurroundings> {
  const own = <T extends { readonly tenantId: string }>(found: T | undefined): T | undefined =>
    ours(found, { tenantId });
  return {
    // Hosts are routed for the whole installation, so other tenants' sites count too.
    sitesOfHost: (host) => store.find(sites, 'host', host),
    sitesNamed: (name) => store.find(sites, 'name', name),
    tenantId,
    upstreamExists: (id) => own(store.get(upstreams, id)) !== undefined,
    upstreamActive: (id) => store.get(upstreams, id)?.status !== 'RESOURCE_STATUS_DISABLED',
    policyExists: (id) => own(store.get(policies, id)) !== undefined,
    policyProblem: (id) => problemOf(store.get(policies, id)),
    certificate: (id) => {
      const found = own(store.get(certificates, id));
      if (found === undefined) return undefined;
      const notAfter = found.notAfter ?? '';
      return {
        dnsNames: found.dnsNames ?? [],
        notAfter,
        expired: Date.parse(notAfter) <= nowMs,
      };
    },
    ipListExists: (id) => own(store.get(ipLists, id)) !== undefined,
    canProveDns: (host) => {
      const known = ownedBy(store, { tenantId }, { collection: dnsProviders });
      return providersFor(host, known).length > 0;
    },
  };
}

/** An ended certificate or a policy that a site already has does not refuse another change. */
export function unchangedPasses(
  around: Required<SiteSurroundings>,
  before: SiteRecord,
): Required<SiteSurroundings> {
  return {
    ...around,
    certificate: (id) => {
      const facts = around.certificate(id);
      return facts === undefined || id !== before.tls?.certId
        ? facts
        : { ...facts, expired: false };
    },
    policyProblem: (id) => (id === before.waf?.policyId ? '' : around.policyProblem(id)),
  };
}

function problemOf(policy: PolicyRecord | undefined): string {
  if (policy?.isTemplate === true) return 'is a template: make a policy from it';
  return policy?.status === 'archived' ? 'is archived: activate it first' : '';
}
