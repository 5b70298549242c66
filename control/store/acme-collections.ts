/** Collections of what is ordered from certificate authorities. */

import type { AcmeAccountRecord, AcmeOrderRecord } from '../domain/site/acme.ts';
import type { Collection } from './collection.ts';

/** Orders, found by the certificate that they keep. */
export const acmeOrders: Collection<AcmeOrderRecord> = {
  name: 'acme-orders',
  indexes: { certificate: (order) => [order.certificateId] },
};
/** Accounts at authorities, with their keys. */
export const acmeAccounts: Collection<AcmeAccountRecord> = { name: 'acme-accounts', indexes: {} };
