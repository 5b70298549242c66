/** Owns finding a caller's certificates and DNS providers, and who uses them. */

import type { Caller } from '../../auth/permissions.ts';
import { notFound } from '../../domain/errors.ts';
import type { CertificateRecord, DnsProviderRecord } from '../../domain/resource-records.ts';
import type { User } from '../../domain/usage.ts';
import { certificates, dnsProviders, sites } from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';
import { requireText } from '../convert.ts';

/** A certificate of the caller's tenant. Errors: invalid_argument at `field`, not_found. */
export function storedCertificate(
  store: ReadStore,
  caller: Caller,
  id: string,
  field: string,
): CertificateRecord {
  const found = store.get(certificates, requireText(id, field));
  if (found === undefined || found.tenantId !== caller.tenantId) throw notFound('certificate', id);
  return found;
}

/** An account of the caller's tenant. Errors: invalid_argument at `field`, not_found. */
export function storedDnsProvider(
  store: ReadStore,
  caller: Caller,
  id: string,
  field: string,
): DnsProviderRecord {
  const found = store.get(dnsProviders, requireText(id, field));
  if (found === undefined || found.tenantId !== caller.tenantId) throw notFound('DNS provider', id);
  return found;
}

/** Sites that present a certificate. */
export function usersOfCertificate(store: ReadStore, id: string): User[] {
  return store
    .list(sites)
    .filter((site) => site.tls?.certId === id)
    .map((site) => ({ kind: 'site', id: site.id }));
}
