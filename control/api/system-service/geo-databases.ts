/**
 * SystemService/ListGeoDatabases, UploadGeoDatabase and DeleteGeoDatabase, and keeping what
 * was uploaded or fetched. A country database goes to the nodes with the configuration; cities and
 * networks only name what is shown.
 */

import {
  GeoDatabaseSchema,
  type GeoDatabase,
  type GeoDatabaseJson,
  type SystemService,
} from '../../../proto/gen/waf/v1/system_pb.ts';
import type { Caller } from '../../auth/permissions.ts';
import { invalidField, refusal } from '../../domain/errors.ts';
import type { GeoDatabaseRecord } from '../../domain/resource-records.ts';
import {
  bundledCountryFacts,
  geoKinds,
  readGeoFile,
  type GeoFile,
  type GeoKindName,
} from '../../publish/geo-file.ts';
import { geoDatabases } from '../../store/collections.ts';
import type { WriteStore } from '../../store/store.ts';
import { callerOf, type Uses } from '../context.ts';
import { isoNow, toMessage } from '../convert.ts';
import { countryActivation } from '../country-activation.ts';
import type { Method } from '../method.ts';
import { drop, keep, type Kept } from '../resource/owned.ts';

const versionPattern = /^[A-Za-z0-9][A-Za-z0-9 ._:/+-]{0,63}$/;

/** Uploaded data sets, and the country set of the product while none was uploaded. */
export function listGeoDatabases(
  parts: Uses<'store' | 'publisher' | 'nodes'>,
): Method<typeof SystemService, 'listGeoDatabases'> {
  return () => {
    const uploaded = parts.store.list(geoDatabases);
    const own = uploaded.some(({ kind }) => kind === 'country') ? [] : [bundledCountry(parts)];
    return { items: [...own, ...uploaded.map((record) => show(parts, record))] };
  };
}

/** Replaces the data set of a kind. */
export function uploadGeoDatabase(
  parts: Uses<'store' | 'clock' | 'publisher' | 'nodes'>,
): Method<typeof SystemService, 'uploadGeoDatabase'> {
  return async ({ kind: asked, version, payload }, context) => {
    const caller = callerOf(context);
    const kind = geoKindOf(asked);
    if (version !== '' && !versionPattern.test(version)) {
      throw invalidField('version', 'has at most 64 letters, digits, spaces and . _ : / + -');
    }
    const file = readGeoFile(payload, kind, 'payload');
    const origin = { version, source: 'offline', action: 'upload' } as const;
    return { database: await keepGeoDatabase(parts, caller, kind, file, origin) };
  };
}

/** Where a data set comes from; an empty version is replaced by the day on which it was built. */
export interface GeoOrigin {
  readonly version: string;
  readonly source: 'online' | 'offline';
  /** As the audit names it. */
  readonly action: 'upload' | 'download';
}

/** Replaces the data set of a kind, in one transaction with its audit row. */
export async function keepGeoDatabase(
  parts: Uses<'store' | 'clock' | 'publisher' | 'nodes'>,
  caller: Caller,
  kind: GeoKindName,
  { content, ...facts }: GeoFile,
  { version, source, action }: GeoOrigin,
): Promise<GeoDatabase> {
  const now = isoNow(parts.clock);
  const built = new Date(facts.buildEpoch * 1000).toISOString().slice(0, 10);
  const stored = await parts.store.write((tx) => {
    const before = tx.get(geoDatabases, kind);
    const record: GeoDatabaseRecord = {
      id: kind,
      kind,
      version: version === '' ? built : version,
      source,
      sha256: facts.sha256,
      sizeBytes: String(content.length),
      buildEpoch: String(facts.buildEpoch),
      nodeCount: String(facts.nodeCount),
      blob: `geo-${facts.sha256}`,
      fetchedAt: now,
      createdAt: before?.createdAt ?? now,
      updatedAt: now,
    };
    tx.putBlob(record.blob, content);
    keep(tx, caller, geoKind, before, record, { action });
    if (before !== undefined) removeUnused(tx, before.blob);
    return record;
  });
  return show(parts, stored);
}

/** Removes an uploaded data set; nodes return to the country set of the product. */
export function deleteGeoDatabase(
  parts: Uses<'store'>,
): Method<typeof SystemService, 'deleteGeoDatabase'> {
  return async ({ kind: asked }, context) => {
    const caller = callerOf(context);
    const kind = geoKindOf(asked);
    await parts.store.write((tx) => {
      const before = tx.get(geoDatabases, kind);
      if (before === undefined)
        throw refusal('not_found', `No geo database of kind ${kind} is uploaded.`);
      drop(tx, caller, geoKind, before);
      removeUnused(tx, before.blob);
    });
    return { result: { id: kind, changed: true } };
  };
}

/** One file may serve as two kinds. */
function removeUnused(tx: WriteStore, blob: string): void {
  if (!tx.list(geoDatabases).some((one) => one.blob === blob)) tx.removeBlob(blob);
}

/** Errors: invalid_argument at kind. */
export function geoKindOf(text: string): GeoKindName {
  const kind = geoKinds.find((one) => one === text);
  if (kind === undefined) throw invalidField('kind', `must be one of ${geoKinds.join(', ')}`);
  return kind;
}

function bundledCountry(parts: Uses<'publisher' | 'nodes'>): GeoDatabase {
  const { sha256, sizeBytes, buildEpoch, nodeCount } = bundledCountryFacts();
  const builtAt = new Date(buildEpoch * 1000).toISOString();
  const facts: GeoDatabaseJson = {
    kind: 'country',
    version: builtAt.slice(0, 10),
    source: 'offline',
    sha256,
    sizeBytes: String(sizeBytes),
    buildEpoch: String(buildEpoch),
    nodeCount: String(nodeCount),
    ...countryActivation(parts, sha256),
  };
  return toMessage(GeoDatabaseSchema, facts);
}

/** A data set, with what the built-in node made of the configuration that carries it. */
function show(parts: Uses<'publisher' | 'nodes'>, record: GeoDatabaseRecord): GeoDatabase {
  const shown = { ...record, ...activationOf(parts, record.kind, record.sha256) };
  return toMessage(GeoDatabaseSchema, shown);
}

function activationOf(
  parts: Uses<'publisher' | 'nodes'>,
  kind: string | undefined,
  sha256: string,
) {
  return kind === 'country' ? countryActivation(parts, sha256) : notApplicable;
}

const notApplicable = { activationStatus: 'not_applicable' };

const geoKind: Kept<GeoDatabaseRecord> = {
  collection: geoDatabases,
  audit: 'geo_database',
  nameOf: ({ id }) => id,
};
