/** Forgets the oldest declarations, profiles, bindings and reports of a site that nothing needs. */

import { apiDocumentLimits } from '../../limits/api-document-limits.ts';
import { refusal } from '../../domain/errors.ts';
import {
  apiReports,
  operationIntents,
  schemaBindings,
  schemaContracts,
  schemaProfiles,
  schemaSources,
  type Collection,
} from '../../store/collections.ts';
import type { ReadStore, WriteStore } from '../../store/store.ts';
import { allOfSite } from './objects.ts';

/** Makes room for one more object. Errors: resource_exhausted where all are in use. */
export function makeDraftRoom<T extends { readonly id: string; readonly siteId: string }>(
  tx: WriteStore,
  collection: Collection<T>,
  siteId: string,
  blobsOf: (record: T) => readonly string[],
): void {
  const all =
    (collection as { readonly name: string }).name === schemaBindings.name
      ? tx.find(collection, 'site', siteId)
      : allOfSite(tx, collection, siteId);
  let surplus = all.length + 1 - apiDocumentLimits.draftsPerSiteMax;
  if (surplus <= 0) return;
  const used = usedIds(tx, siteId);
  for (const one of all) {
    if (surplus <= 0) return;
    if (used.has(one.id)) continue;
    for (const blob of blobsOf(one)) tx.removeBlob(blob);
    tx.remove(collection, one.id);
    surplus--;
  }
  if (surplus <= 0) return;
  const most = apiDocumentLimits.draftsPerSiteMax;
  throw refusal('resource_exhausted', `A site keeps at most ${most} of these; all are in use.`);
}

/**
 * Forgets reports that no document, declaration or profile names any more. Errors:
 * resource_exhausted where one more would be too many; the bounds of those three forbid it.
 */
export function makeReportRoom(tx: WriteStore, siteId: string): void {
  const named = new Set([
    ...allOfSite(tx, schemaSources, siteId).map(({ parseReportId }) => parseReportId),
    ...allOfSite(tx, schemaContracts, siteId).map(({ reportId }) => reportId),
    ...allOfSite(tx, schemaProfiles, siteId).map(({ reportId }) => reportId),
  ]);
  let count = 0;
  for (const { id, blob } of tx.find(apiReports, 'site', siteId)) {
    if (named.has(id)) count++;
    else {
      tx.removeBlob(blob);
      tx.remove(apiReports, id);
    }
  }
  const most = apiDocumentLimits.reportsPerSiteMax;
  if (count < most) return;
  throw refusal('resource_exhausted', `A site keeps at most ${most} reports; all are in use.`);
}

/** Objects that kept intents and bindings refer to. */
function usedIds(store: ReadStore, siteId: string): Set<string> {
  const used = new Set<string>();
  for (const { controls } of allOfSite(store, operationIntents, siteId)) {
    const { contractId = '', bindingId = '', profileId = '' } = controls.schema ?? {};
    for (const id of [contractId, bindingId, profileId]) used.add(id);
  }
  for (const { declarationId, profileId } of store.find(schemaBindings, 'site', siteId)) {
    used.add(declarationId);
    used.add(profileId);
  }
  return used;
}
