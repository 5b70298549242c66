/** Nothing of the API of a deleted site stays, and nothing of another site goes. */

import { expect, test } from 'vitest';
import { systemClock } from '../../../base/clock.ts';
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
import { openMemoryKv } from '../../store/memory-kv.ts';
import { openStore } from '../../store/store.ts';
import { localAdministrator } from '../../auth/sessions.ts';
import type { SiteRecord } from '../../domain/records.ts';
import { forgetApiOfSite } from './forget-site.ts';
import { keepSource } from './sources.ts';

const all = [
  ...[apiAssets, apiLearning, apiReports, learnedDrafts, operationIntents],
  ...[schemaBindings, schemaContracts, schemaProfiles, schemaSources],
] as readonly unknown[] as readonly Collection<{ readonly id: string }>[];

test('records and their content go with their site', async () => {
  const store = await openStore(openMemoryKv(), systemClock);
  const blobsOf = (site: string): string[] =>
    ['blob', 'documentBlob', 'changesBlob', 'artifactBlob'].map((name) => `${site} ${name}`);
  const recordOf = (site: string) => {
    const [blob, documentBlob, changesBlob, artifactBlob] = blobsOf(site);
    return {
      ...{ id: `of-${site}`, siteId: site, revision: '1', controlRevision: 1 },
      ...{ assetId: `of-${site}`, sourceId: '', declarationId: '', approvalSha256: '' },
      ...{ supersededByIntentId: '', blob, documentBlob, changesBlob, artifactBlob },
    };
  };
  const sites = ['site-a', 'site-a2'];
  await store.write((tx) => {
    for (const site of sites) {
      for (const name of blobsOf(site)) tx.putBlob(name, new Uint8Array([1]));
      for (const collection of all) tx.put(collection, recordOf(site));
    }
  });
  await store.write((tx) => forgetApiOfSite(tx, 'site-a'));
  for (const collection of all) {
    expect([collection.name, store.list(collection).map(({ id }) => id)]).toEqual([
      collection.name,
      ['of-site-a2'],
    ]);
  }
  const kept = sites.flatMap(blobsOf).filter((name) => store.blob(name) !== undefined);
  expect(kept).toEqual(blobsOf('site-a2'));
});

test('a document is not kept for a site that went while it was read', async () => {
  const store = await openStore(openMemoryKv(), systemClock);
  const site = { id: 'gone', tenantId: 't' } as unknown as SiteRecord;
  const read = { documentJson: '{}' } as unknown as Parameters<typeof keepSource>[3];
  const input = { name: 'n', format: 'json', bytes: new Uint8Array() } as const;
  const keep = store.write((tx) => keepSource(tx, localAdministrator('t'), site, read, input, ''));
  await expect(keep).rejects.toThrow(/site/i);
});
