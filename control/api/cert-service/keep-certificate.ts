/** Keeps a checked certificate: once per fingerprint, under a name of its own. */

import { randomUUID } from 'node:crypto';
import { resourceLimits } from '../../limits/resource-limits.ts';
import type { Caller } from '../../auth/permissions.ts';
import type { CheckedCertificate } from '../../domain/site/certificates.ts';
import { refusal } from '../../domain/errors.ts';
import type { CertificateRecord } from '../../domain/resource-records.ts';
import { certificateKeys, certificates } from '../../store/collections.ts';
import type { ReadStore, WriteStore } from '../../store/store.ts';
import { keep } from '../resource/owned.ts';
import { certificateKind } from './certificate.ts';

/** What is kept beside the certificate itself. */
export interface CertificateKeeping {
  readonly name: string;
  /** For messages. */
  readonly nameField: string;
  readonly managed: boolean;
  /** RFC 3339. */
  readonly now: string;
}

/** A certificate with the same fingerprint in the caller's tenant. */
export function sameCertificate(
  store: ReadStore,
  caller: Caller,
  fingerprint: string,
): CertificateRecord | undefined {
  return store
    .find(certificates, 'fingerprint', fingerprint)
    .find((one) => one.tenantId === caller.tenantId);
}

/** Keeps the certificate, its key and an audit row. Errors: already_exists, resource_exhausted. */
export function keepCertificate(
  tx: WriteStore,
  caller: Caller,
  checked: CheckedCertificate,
  { name, nameField, managed, now }: CertificateKeeping,
): CertificateRecord {
  if (tx.count(certificates, 'tenant', caller.tenantId) >= resourceLimits.certificatesMax) {
    throw refusal('resource_exhausted', 'there are too many certificates: remove some first');
  }
  const named = tx.find(certificates, 'name', name);
  if (named.some((one) => one.tenantId === caller.tenantId)) {
    throw refusal('already_exists', `${nameField}: another certificate has it`);
  }
  const { keyPem, ...shown } = checked;
  const record: CertificateRecord = {
    ...shown,
    dnsNames: [...shown.dnsNames],
    id: `cert-${randomUUID()}`,
    tenantId: caller.tenantId,
    name,
    managed,
    autoRenew: managed,
    createdAt: now,
    updatedAt: now,
  };
  tx.put(certificateKeys, { id: record.id, keyPem });
  const action = managed ? 'import' : 'upload';
  return keep(tx, caller, certificateKind, null, record, { action });
}
