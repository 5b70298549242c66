/** A report stays as long as a document, a declaration or a profile names it, and no longer. */

import { expect, test } from 'vitest';
import { systemClock } from '../../../base/clock.ts';
import type { SealedReport } from '../../documents/document-report.ts';
import type {
  SchemaProfileRecord,
  SchemaSourceRecord,
} from '../../domain/documents/api-records.ts';
import { apiDocumentLimits } from '../../limits/api-document-limits.ts';
import { apiReports, schemaProfiles, schemaSources } from '../../store/collections.ts';
import { openMemoryKv } from '../../store/memory-kv.ts';
import { openStore, type WriteStore } from '../../store/store.ts';
import { keepReport } from './reports.ts';
import { makeDraftRoom } from './retention.ts';

const base = { tenantId: 't', siteId: 'site-1', sourceId: 'source-1', createdAt: 'now' };
const { draftsPerSiteMax, reportsPerSiteMax, sourcesPerSiteMax } = apiDocumentLimits;

function sealed(name: string): SealedReport {
  const report = { stage: 'profile', inputSha256: 'in' };
  return { report, json: `{"name":"${name}"}`, sha256: name } as unknown as SealedReport;
}

/** A profile with a report of its own, as staging keeps it. */
function stageProfile(tx: WriteStore, at: number): void {
  makeDraftRoom(tx, schemaProfiles, base.siteId, () => []);
  const { id: reportId } = keepReport(tx, base, sealed(`profile ${at}`));
  const profile = { ...base, id: `profile-${at}`, revision: String(at), reportId };
  tx.put(schemaProfiles, profile as unknown as SchemaProfileRecord);
}

test('reports of profiles that went are forgotten, those of kept ones are not', async () => {
  const store = await openStore(openMemoryKv(), systemClock);
  const more = 5;
  await store.write((tx) => {
    const { id: parseReportId } = keepReport(tx, base, sealed('document'));
    const source = { ...base, id: base.sourceId, revision: '1', parseReportId };
    tx.put(schemaSources, source as unknown as SchemaSourceRecord);
  });
  const [first] = store.list(apiReports);
  for (let at = 1; at <= draftsPerSiteMax + more; at++) {
    await store.write((tx) => stageProfile(tx, at));
  }
  const kept = store.list(apiReports);
  expect(kept.length).toBe(draftsPerSiteMax + 1);
  expect(kept.map(({ id }) => id)).toContain(first!.id);
  const shown = new Set(kept.map(({ reportSha256 }) => reportSha256));
  expect([shown.has(`profile ${more}`), shown.has(`profile ${more + 1}`)]).toEqual([false, true]);
  for (const { blob } of kept) expect(store.blob(blob)).toBeDefined();
});

test('a report of the same content is kept once', async () => {
  const store = await openStore(openMemoryKv(), systemClock);
  const ids = await store.write((tx) =>
    [sealed('same'), sealed('same')].map((one) => keepReport(tx, base, one).id),
  );
  expect(new Set(ids).size).toBe(1);
});

test('the bound of reports is that of what names them', () => {
  expect(reportsPerSiteMax).toBe(sourcesPerSiteMax + 2 * draftsPerSiteMax);
});
