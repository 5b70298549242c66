/** SystemService/DownloadGeoDatabase: one fetch at a time, kept like an upload. */

import type { SystemService } from '../../../proto/gen/waf/v1/system_pb.ts';
import { downloadGeoFile } from '../../access/geo-download.ts';
import { FetchError } from '../../access/outgoing.ts';
import { invalidField, refusal } from '../../domain/errors.ts';
import { geoSourceOf, monthsOf } from '../../domain/access/geo-sources.ts';
import { allowedNetworksOf } from '../../domain/settings/outgoing-settings.ts';
import { readGeoFile, type GeoKindName } from '../../publish/geo-file.ts';
import { settingsId, systemSettings } from '../../store/collections.ts';
import { callerOf, type Uses } from '../context.ts';
import type { Method } from '../method.ts';
import { geoKindOf, keepGeoDatabase } from './geo-databases.ts';

interface Download {
  readonly content: Uint8Array;
  readonly month: string;
}

/** Downloads a data set and replaces the one of the same kind; a failure changes nothing. */
export function downloadGeoDatabase(
  parts: Uses<'store' | 'clock' | 'publisher' | 'nodes' | 'fetchLimits'>,
): Method<typeof SystemService, 'downloadGeoDatabase'> {
  let busy = false;
  return async ({ kind: asked, month }, context) => {
    const caller = callerOf(context);
    const kind = geoKindOf(asked);
    if (month !== '' && !/^\d{4}-(0[1-9]|1[0-2])$/.test(month)) {
      throw invalidField('month', 'must be a month such as 2026-09, or empty for the latest');
    }
    if (busy) throw refusal('aborted', 'another geo database is being fetched; try again');
    busy = true;
    try {
      const found = await download(parts, kind, month);
      const file = readFetched(found.content, kind);
      const origin = { version: found.month, source: 'online', action: 'download' } as const;
      return { database: await keepGeoDatabase(parts, caller, kind, file, origin) };
    } finally {
      busy = false;
    }
  };
}

/** Errors: not_found, failed_precondition, unavailable. */
async function download(
  parts: Uses<'store' | 'clock' | 'fetchLimits'>,
  kind: GeoKindName,
  asked: string,
): Promise<Download> {
  const values = parts.store.get(systemSettings, settingsId)?.values ?? {};
  const networks = allowedNetworksOf(values);
  const months = monthsOf(asked, parts.clock.nowMs());
  for (const month of months) {
    try {
      const source = geoSourceOf(values, kind, month);
      return { content: await downloadGeoFile(source, networks, parts.fetchLimits), month };
    } catch (error) {
      if (!(error instanceof FetchError)) throw error;
      if (error.httpStatus === 404) continue;
      const blocked = error.resultCode === 'blocked_address';
      const code = blocked ? 'failed_precondition' : 'unavailable';
      const hint = blocked ? '; see the setting outgoing.allowed_networks' : '';
      throw refusal(code, `kind: ${error.message}${hint}`);
    }
  }
  throw refusal('not_found', `month: the source has no ${kind} database of ${months.join(' or ')}`);
}

/** What a source sends is not the caller's mistake. */
function readFetched(content: Uint8Array, kind: GeoKindName) {
  try {
    return readGeoFile(content, kind, 'source');
  } catch {
    throw refusal('unavailable', `kind: the source sent no ${kind} database (.mmdb)`);
  }
}
