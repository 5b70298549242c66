/** Actions on endpoints: hide, restore, retire. They change lists, never what requests get. */

import { invalidField, notFound, refusal } from '../../domain/errors.ts';
import type { ApiAssetRecord } from '../../domain/documents/api-records.ts';
import type { Caller } from '../../auth/permissions.ts';
import { apiDocumentLimits } from '../../limits/api-document-limits.ts';
import { apiAssets } from '../../store/api-collections.ts';
import type { WriteStore } from '../../store/store.ts';
import type { Uses } from '../context.ts';
import { isoNow } from '../convert.ts';
import { keep, type Kept } from '../resource/owned.ts';
import { storedSite } from '../site-service/stored-site.ts';
import { endpointsOf, type Endpoint } from './endpoints.ts';

const actions = ['hide', 'restore', 'retire'] as const;
type Action = (typeof actions)[number];
const reserved = ['block', 'apply_body_suggestion'];
const known = ['site', 'asset_id', 'action', 'expected_revision'];

/**
 * Carries out an action. Errors: invalid_argument, unimplemented for reserved actions, not_found,
 * aborted where the asset changed since it was read, failed_precondition.
 */
export async function apiTreeAction(
  parts: Uses<'store' | 'clock' | 'counters'>,
  caller: Caller,
  body: unknown,
) {
  const { site, assetId, action, revision } = readBody(body);
  storedSite(parts.store, caller, site, 'site');
  if (assetId === '') throw invalidField('asset_id', 'is required');
  if (!/^\d{1,19}$/.test(revision)) {
    throw invalidField('expected_revision', 'must be the revision that you read, a text of digits');
  }
  const changed = await parts.store.write((tx) => {
    const { id, tenantId } = storedSite(tx, caller, site, 'site');
    const reading = { store: tx, counters: parts.counters };
    const found = endpointsOf(reading, tenantId, id).find((one) => one.assetId === assetId);
    if (found === undefined) throw notFound('asset', assetId);
    if (String(found.record?.revision ?? 0) !== revision) {
      throw refusal('aborted', 'expected_revision: the asset changed since; read it again');
    }
    return change(tx, caller, { tenantId, siteId: id, nowIso: isoNow(parts.clock) }, found, action);
  });
  return { site, asset_id: assetId, action, revision: String(changed.revision) };
}

/** Endpoints that something was decided about. */
const assetKind: Kept<ApiAssetRecord> = {
  collection: apiAssets,
  audit: 'api_asset',
  nameOf: ({ method, path }) => `${method} ${path}`,
};

interface Place {
  readonly tenantId: string;
  readonly siteId: string;
  readonly nowIso: string;
}

function change(
  tx: WriteStore,
  caller: Caller,
  { tenantId, siteId, nowIso }: Place,
  { record, assetId, method, host, path }: Endpoint,
  action: Action,
): ApiAssetRecord {
  if (action === 'retire' && record?.cataloged === true) {
    const problem = 'the catalog has the asset; remove it by StageApiCatalogChange first';
    throw refusal('failed_precondition', `action: ${problem}`);
  }
  const count = tx.find(apiAssets, 'site', siteId).length;
  if (record === undefined && count >= apiDocumentLimits.assetsPerSiteMax) {
    throw refusal('resource_exhausted', 'the site has as many assets as may be');
  }
  const before = record ?? {
    ...{ id: assetId, tenantId, siteId, method, host, path, revision: 0, cataloged: false },
    ...{ hidden: false, createdAt: nowIso, updatedAt: nowIso },
  };
  const { retiredAt: _, ...kept } = before;
  const after: ApiAssetRecord = {
    ...kept,
    hidden: action === 'hide',
    ...(action === 'retire' ? { retiredAt: nowIso } : {}),
    revision: before.revision + 1,
    updatedAt: nowIso,
  };
  return keep(tx, caller, assetKind, record, after, { action });
}

function readBody(body: unknown) {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw invalidField('body', 'must be a JSON object');
  }
  const fields = body as Readonly<Record<string, unknown>>;
  for (const name of Object.keys(fields)) {
    if (!known.includes(name)) throw invalidField('body', `allowed are ${known.join(', ')}`);
  }
  const [site = '', assetId = '', asked = '', revision = ''] = known.map((name) => {
    const value = fields[name] ?? '';
    if (typeof value !== 'string') throw invalidField(name, 'must be a text');
    return value;
  });
  if (reserved.includes(asked)) throw refusal('unimplemented', 'action: is reserved');
  if (asked === 'confirm') throw invalidField('action', 'confirm is no longer supported');
  const action = actions.find((one) => one === asked);
  if (action === undefined) throw invalidField('action', `must be one of ${actions.join(', ')}`);
  return { site, assetId, action, revision };
}
