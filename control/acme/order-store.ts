/** What is kept of orders: accounts, certificates with their keys, and when to come back. */

import { createHash, generateKeyPairSync, randomUUID } from 'node:crypto';
import { acmeLimits } from '../limits/acme-limits.ts';
import type { AcmeAccountRecord, AcmeOrderRecord, CheckedOrder } from '../domain/site/acme.ts';
import type { CheckedCertificate } from '../domain/site/certificates.ts';
import { refusal } from '../domain/errors.ts';
import type { CertificateRecord } from '../domain/resource-records.ts';
import { acmeAccounts, acmeOrders, certificateKeys, certificates } from '../store/collections.ts';
import type { ReadStore, Store, WriteStore } from '../store/store.ts';

/** Who did it, for the audit chain, where nobody asked. */
export const acmeActor = { actorId: 'acme', actorName: 'certificate renewal' };

/** The account for an authority and a mail address; a new key where there is none. */
export async function accountFor(
  store: Store,
  directoryUrl: string,
  email: string,
): Promise<AcmeAccountRecord> {
  const id = createHash('sha256').update(`${directoryUrl}\n${email}`).digest('hex').slice(0, 32);
  const known = store.get(acmeAccounts, id);
  if (known !== undefined) return known;
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const keyPem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  return store.write((tx) => {
    const other = tx.get(acmeAccounts, id);
    if (other !== undefined) return other;
    const record = { id, directoryUrl, email, keyPem, accountUrl: '' };
    tx.put(acmeAccounts, record);
    return record;
  });
}

/** Adds an order that is due now. Errors: resource_exhausted. */
export function addOrder(
  tx: WriteStore,
  tenantId: string,
  name: string,
  checked: CheckedOrder,
  nowMs: number,
): AcmeOrderRecord {
  if (tx.list(acmeOrders).length >= acmeLimits.ordersMax) {
    throw refusal('resource_exhausted', 'there are too many managed certificates: remove some');
  }
  const record: AcmeOrderRecord = {
    ...checked,
    id: `order-${randomUUID()}`,
    tenantId,
    name,
    certificateId: '',
    dueAtMs: nowMs,
    askAtMs: 0,
    attempts: 0,
    lastError: '',
    lastFailedAt: '',
    lastIssuedAt: '',
    createdAt: new Date(nowMs).toISOString(),
  };
  tx.put(acmeOrders, record);
  return record;
}

/** The order that keeps a certificate; undefined for one that nobody renews. */
export function orderOfCertificate(store: ReadStore, id: string): AcmeOrderRecord | undefined {
  return store.find(acmeOrders, 'certificate', id)[0];
}

/**
 * Keeps what an authority issued: a new certificate, or a new content of the one that the order
 * keeps, so that what names it need not change.
 */
export function keepIssued(
  tx: WriteStore,
  order: AcmeOrderRecord,
  { keyPem, ...shown }: CheckedCertificate,
  now: string,
): CertificateRecord {
  const before = tx.get(certificates, order.certificateId);
  const record: CertificateRecord = {
    ...(before ?? {
      id: `cert-${randomUUID()}`,
      tenantId: order.tenantId,
      name: freeName(tx, order),
      managed: true,
      autoRenew: true,
      createdAt: now,
    }),
    ...shown,
    dnsNames: [...shown.dnsNames],
    acmeIssuer: order.issuer,
    updatedAt: now,
  };
  tx.put(certificates, record);
  tx.put(certificateKeys, { id: record.id, keyPem });
  const { certPem: _cert, chainPem: _chain, ...facts } = record;
  tx.audit({
    ...acmeActor,
    tenantId: order.tenantId,
    action: before === undefined ? 'issue' : 'renew',
    resourceType: 'certificate',
    resourceId: record.id,
    resourceName: record.name,
    after: facts,
  });
  return record;
}

/** A name that no other certificate of the tenant has. */
function freeName(tx: WriteStore, { tenantId, name }: AcmeOrderRecord): string {
  const taken = new Set(
    tx
      .list(certificates)
      .filter((one) => one.tenantId === tenantId)
      .map((one) => one.name),
  );
  for (let count = 1; ; count++) {
    const tried = count === 1 ? name : `${name} ${count}`;
    if (!taken.has(tried)) return tried;
  }
}
