/** Certificates as what a tenant owns, and who uses them. */

import type { CertificateRecord } from '../../domain/resource-records.ts';
import type { User } from '../../domain/usage.ts';
import { certificates, sites } from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';
import type { Owned } from '../resource/owned.ts';

/** Certificates; audit rows show facts, without the PEM texts. */
export const certificateKind: Owned<CertificateRecord> = {
  collection: certificates,
  noun: 'certificate',
  audit: 'certificate',
  nameOf: ({ name }) => name,
  audited: ({ certPem: _certPem, chainPem: _chainPem, ...facts }) => facts,
};

/** Sites that present a certificate. */
export function usersOfCertificate(store: ReadStore, id: string): User[] {
  return store
    .list(sites)
    .filter((site) => site.tls?.certId === id)
    .map((site) => ({ kind: 'site', id: site.id }));
}
