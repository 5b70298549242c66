/** Where geo databases are fetched from: the settings, and the URLs they give. Pure. */

import { isHttpUrl } from '../policy/crs-releases.ts';
import { invalidField } from '../errors.ts';

/** Key of the address of geo databases, with `{kind}` and `{month}` in it. */
export const geoSourceKey = 'geo.download_url';
/** Key of the address of their SHA-256 digests; empty for none. */
export const geoDigestKey = 'geo.digest_url';
/** DB-IP's free data sets, of which the product's own country set is one. */
export const standardGeoSource = 'https://download.db-ip.com/free/dbip-{kind}-lite-{month}.mmdb.gz';

/** Where one data set and its digest lie. */
export interface GeoSource {
  readonly url: string;
  /** Empty when digests are not published. */
  readonly digestUrl: string;
}

/** Checks the address of databases. Errors: invalid_argument at `at`. */
export function checkGeoSource(value: unknown, at: string): void {
  if (typeof value === 'string' && isTemplate(value)) return;
  throw invalidField(at, 'must be an http(s) URL with {kind} in it, and {month} where it has one');
}

/** Checks the address of digests. Errors: invalid_argument at `at`. */
export function checkGeoDigest(value: unknown, at: string): void {
  if (value === '' || (typeof value === 'string' && isTemplate(value))) return;
  throw invalidField(at, 'must be an http(s) URL with {kind} in it, or empty');
}

/** Where a data set of a month lies, from the settings' values. */
export function geoSourceOf(
  values: Readonly<Record<string, unknown>>,
  kind: string,
  month: string,
): GeoSource {
  const read = (key: string, standard: string): string => {
    const own = values[key];
    return filled(typeof own === 'string' ? own : standard, kind, month);
  };
  return { url: read(geoSourceKey, standardGeoSource), digestUrl: read(geoDigestKey, '') };
}

/** Months to try: the one that is asked for, else this one and, where it is not out, the last. */
export function monthsOf(asked: string, nowMs: number): string[] {
  if (asked !== '') return [asked];
  const now = new Date(nowMs);
  const last = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1, 1));
  return [now, last].map((one) => one.toISOString().slice(0, 7));
}

/** The SHA-256 in a digest file, as `sha256sum` writes it; null when there is none. */
export function readDigest(text: string): string | null {
  return /^\\?([0-9a-f]{64})(?:\s|$)/i.exec(text.trimStart())?.[1]?.toLowerCase() ?? null;
}

function isTemplate(text: string): boolean {
  return text.includes('{kind}') && isHttpUrl(filled(text, 'country', '2026-01'));
}

function filled(text: string, kind: string, month: string): string {
  return text.replaceAll('{kind}', kind).replaceAll('{month}', month);
}
