/** Removes what is kept of the API of a site: documents, what was made of them, its controls. */

import {
  apiAssets,
  apiLearning,
  apiReports,
  learnedDrafts,
  operationIntents,
  schemaBindings,
  schemaContracts,
  schemaProfiles,
  schemaSources,
  type Collection,
} from '../../store/collections.ts';
import type { WriteStore } from '../../store/store.ts';
import { allOfSite } from './objects.ts';

/** For a site that is deleted, in the transaction that removes it. */
export function forgetApiOfSite(tx: WriteStore, siteId: string): void {
  for (const { id } of tx.find(apiAssets, 'site', siteId)) {
    removeAll(tx, learnedDrafts, tx.find(learnedDrafts, 'asset', id));
  }
  removeAll(tx, apiLearning, tx.find(apiLearning, 'site', siteId));
  removeAll(tx, apiAssets, tx.find(apiAssets, 'site', siteId));
  removeAll(tx, apiReports, tx.find(apiReports, 'site', siteId));
  removeAll(tx, schemaBindings, tx.find(schemaBindings, 'site', siteId));
  removeAll(tx, schemaProfiles, allOfSite(tx, schemaProfiles, siteId));
  removeAll(tx, schemaContracts, allOfSite(tx, schemaContracts, siteId));
  removeAll(tx, schemaSources, allOfSite(tx, schemaSources, siteId));
  removeAll(tx, operationIntents, allOfSite(tx, operationIntents, siteId));
}

function removeAll<T extends { readonly id: string }>(
  tx: WriteStore,
  collection: Collection<T>,
  records: readonly T[],
): void {
  for (const record of records) {
    for (const blob of collection.blobs?.(record) ?? []) tx.removeBlob(blob);
    tx.remove(collection, record.id);
  }
}
