/**
 * The pieces of a bundle that hold certificates with their keys: those that a site that serves
 * presents, and no others. Keys go into pieces and nowhere else.
 */

import { certificateChooser } from '../../domain/site/site-certificate.ts';
import type { CertificateRecord } from '../../domain/resource-records.ts';
import { certificateKeys, certificates } from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';
import { drawers } from './drawers.ts';
import type { PartKind } from './part-kind.ts';
import { readServedSites, servedCollections } from './served-sites.ts';

/** Certificates of sites. */
export const certificateKind: PartKind = {
  name: 'certificate',
  collections: [...servedCollections, 'certificates', 'certificate-keys'],
  plan: (store) =>
    drawers(used(store), ({ id }) => id).map(([id, records]) => ({
      id,
      inputs: records.flatMap((one) => [one, store.get(certificateKeys, one.id)]),
      build: () => ({ certificates: records.map((one) => toRuntime(store, one)) }),
    })),
};

function used(store: ReadStore): CertificateRecord[] {
  const certificateOf = certificateChooser(store.list(certificates));
  const found = new Set<CertificateRecord>();
  for (const { site } of readServedSites(store)) {
    const one = certificateOf(site);
    if (one !== undefined) found.add(one);
  }
  return [...found];
}

function toRuntime(store: ReadStore, { id, certPem, chainPem }: CertificateRecord) {
  return {
    id,
    certificatePem: Buffer.from([certPem, ...chainPem].join('')),
    keyPem: Buffer.from(store.get(certificateKeys, id)?.keyPem ?? ''),
  };
}
