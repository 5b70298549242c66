/** Certificates: one of a fingerprint and of a name in a tenant; keys are in no answer but one. */

import { CertificateSchema } from '../../../proto/gen/waf/v1/cert_pb.ts';
import type { Caller } from '../../auth/permissions.ts';
import { refusal } from '../../domain/errors.ts';
import type { CertificateRecord } from '../../domain/resource-records.ts';
import type { CheckedCertificate } from '../../domain/site/certificates.ts';
import { resourceLimits } from '../../limits/resource-limits.ts';
import { certificateKeys, certificates, sites } from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';
import type { ServedKind } from '../resource/resource.ts';

/** A certificate that passed every check of its own. */
export interface AskedCertificate {
  /** Checked. */
  readonly name: string;
  /** Of the name, in errors. */
  readonly nameField: string;
  readonly checked: CheckedCertificate;
}

/** Certificates; audit rows show facts, without the PEM texts. */
export const certificateKind: ServedKind<
  typeof CertificateSchema,
  AskedCertificate,
  CertificateRecord
> = {
  schema: CertificateSchema,
  collection: certificates,
  noun: 'certificate',
  audit: 'certificate',
  field: 'cert',
  prefix: 'cert',
  nameOf: ({ name }) => name,
  searched: ({ name, dnsNames = [] }) => [name, ...dnsNames],
  audited: ({ certPem: _certPem, chainPem: _chainPem, ...facts }) => facts,
  settle: ({ tx, caller }, { name, nameField, checked }, _before, base) => {
    const same = sameCertificate(tx, caller, checked.fingerprintSha256);
    if (same !== undefined) {
      throw refusal('already_exists', `certPem: certificate ${same.id} is the same`);
    }
    refuseTakenName(tx, caller, name, nameField);
    const { keyPem, ...facts } = checked;
    const dnsNames = [...facts.dnsNames];
    return {
      record: { ...facts, ...base, dnsNames, name, managed: false, autoRenew: false },
      keepMore: (tx) => tx.put(certificateKeys, { id: base.id, keyPem }),
    };
  },
  refuseMore: (store, { tenantId }) => {
    if (store.count(certificates, 'tenant', tenantId) < resourceLimits.certificatesMax) return;
    throw refusal('resource_exhausted', 'there are too many certificates: remove some first');
  },
  usersOf: (store, { id }) =>
    store
      .list(sites)
      .filter((site) => site.tls?.certId === id)
      .map((site) => ({ kind: 'site', id: site.id })),
  dropMore: ({ tx }, { id }) => tx.remove(certificateKeys, id),
};

/** A certificate with the same fingerprint in the caller's tenant. */
export function sameCertificate(
  store: ReadStore,
  { tenantId }: Caller,
  fingerprint: string,
): CertificateRecord | undefined {
  return store
    .find(certificates, 'fingerprint', fingerprint)
    .find((one) => one.tenantId === tenantId);
}

/** Errors: already_exists when another certificate of the tenant has the name. */
export function refuseTakenName(
  store: ReadStore,
  { tenantId }: Caller,
  name: string,
  field: string,
): void {
  if (!store.find(certificates, 'name', name).some((one) => one.tenantId === tenantId)) return;
  throw refusal('already_exists', `${field}: another certificate has it`);
}
