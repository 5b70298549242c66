/** Fetches releases of the CRS project, or an archive that an operator names. */

import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { CrsService } from '../../../proto/gen/waf/v1/crs_pb.ts';
import type { SystemService } from '../../../proto/gen/waf/v1/system_pb.ts';
import { callLimits } from '../../limits/call-limits.ts';
import { FetchError, fetchOutgoing } from '../../access/outgoing.ts';
import {
  checkTag,
  crsRepository,
  isHttpUrl,
  mirrorOf,
  readReleases,
  releaseSourceOf,
  type Release,
  versionOfTag,
} from '../../domain/policy/crs-releases.ts';
import { invalidField, refusal } from '../../domain/errors.ts';
import { compareVersions } from '../../domain/release/release-order.ts';
import { allowedNetworksOf } from '../../domain/settings/outgoing-settings.ts';
import { settingsId, systemSettings } from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';
import type { Uses } from '../context.ts';
import { requireText } from '../convert.ts';
import type { Method } from '../method.ts';
import { findPlugin } from './stored-plugin.ts';

const standardLimit = 20;
const limitMax = 100;

/** Releases of the Core Rule Set, newest first. */
export function listUpstreamCrsReleases(
  parts: Uses<'store'>,
): Method<typeof SystemService, 'listUpstreamCrsReleases'> {
  return async ({ limit, includePrerelease }) => {
    const found = await releasesOf(parts.store, crsRepository, limit, includePrerelease);
    return {
      releases: found.map(({ publishedAt, ...one }) => ({ ...one, ...timeOf(publishedAt) })),
    };
  };
}

/** Releases of a curated exclusion plugin, newest first. */
export function listUpstreamCrsExclusionPluginReleases(
  parts: Uses<'store'>,
): Method<typeof CrsService, 'listUpstreamCrsExclusionPluginReleases'> {
  return async ({ slug, limit, includePrerelease }) => {
    const repository = pluginRepository(parts.store, requireText(slug, 'slug'), 'slug');
    const found = await releasesOf(parts.store, repository, limit, includePrerelease);
    return {
      releases: found.map(({ publishedAt, tarballUrl: _url, ...one }) => ({
        slug,
        ...one,
        ...timeOf(publishedAt),
      })),
    };
  };
}

/** The repository of a curated plugin. Errors: invalid_argument at `field`. */
export function pluginRepository(store: ReadStore, idOrSlug: string, field: string): string {
  const { curated } = findPlugin(store, idOrSlug);
  if (curated === undefined) {
    throw invalidField(field, 'names no plugin of the CRS project; import its archive instead');
  }
  return `coreruleset/${curated.slug}-plugin`;
}

/** The archive of a release. Errors: invalid_argument, failed_precondition, unavailable. */
export function fetchRelease(
  store: ReadStore,
  repository: string,
  tag: string,
): Promise<Uint8Array> {
  const source = releaseSourceOf(valuesOf(store));
  const url = `${source}/repos/${repository}/tarball/${checkTag(tag, 'githubTag')}`;
  return fetchBytes(store, url, 'githubTag');
}

/** A release with what proves it. */
export interface SignedRelease {
  readonly archive: Uint8Array;
  readonly signature: Uint8Array;
  readonly publicKey: Uint8Array;
}

/**
 * A release of the mirror, by its version or `latest`. The mirror holds files as the project
 * publishes them: releases.json, security.asc and coreruleset-VERSION-minimal.tar.gz with .asc.
 * Errors: as `fetchRelease`.
 */
export async function fetchFromMirror(store: ReadStore, wanted: string): Promise<SignedRelease> {
  const field = 'mirrorRelease';
  const mirror = mirrorOf(valuesOf(store));
  if (mirror === '') {
    throw refusal(
      'failed_precondition',
      `${field}: Set a mirror first, in the setting crs.mirror.`,
    );
  }
  const version = wanted === 'latest' ? await latestOf(store, mirror, field) : wanted;
  const archive = `${mirror}/coreruleset-${versionOfTag(checkTag(version, field))}-minimal.tar.gz`;
  return {
    publicKey: await fetchBytes(store, `${mirror}/security.asc`, field),
    signature: await fetchBytes(store, `${archive}.asc`, field),
    archive: await fetchBytes(store, archive, field),
  };
}

/** The newest release that a mirror lists and that is no candidate. */
async function latestOf(store: ReadStore, mirror: string, field: string): Promise<string> {
  const listed = readReleases(
    new TextDecoder().decode(await fetchBytes(store, `${mirror}/releases.json`, field)),
  );
  const newest = (listed ?? [])
    .filter(({ draft, prerelease }) => !draft && !prerelease)
    .sort((left, right) => compareVersions(versionOfTag(right.tag), versionOfTag(left.tag)))[0];
  if (newest !== undefined) return newest.tag;
  throw refusal('unavailable', `${field}: releases.json of the mirror lists no release`);
}

/** The archive at a URL. Errors: as `fetchRelease`. */
export function fetchArchive(store: ReadStore, url: string, field: string): Promise<Uint8Array> {
  if (!isHttpUrl(url)) throw invalidField(field, 'must be an http(s) URL without credentials');
  return fetchBytes(store, url, field);
}

async function releasesOf(
  store: ReadStore,
  repository: string,
  limit: number,
  includePrerelease: boolean,
): Promise<Release[]> {
  if (limit < 0 || limit > limitMax) throw invalidField('limit', `must be at most ${limitMax}`);
  const source = releaseSourceOf(valuesOf(store));
  const url = `${source}/repos/${repository}/releases?per_page=${limitMax}`;
  const bytes = await fetchBytes(store, url, 'releases');
  const found = readReleases(new TextDecoder().decode(bytes));
  if (found === null) throw refusal('unavailable', 'releases: the source sent no list of releases');
  return found
    .filter(({ draft, prerelease }) => !draft && (includePrerelease || !prerelease))
    .slice(0, limit || standardLimit);
}

async function fetchBytes(store: ReadStore, url: string, field: string): Promise<Uint8Array> {
  try {
    const { result } = await fetchOutgoing(
      {
        url,
        headers: { accept: 'application/vnd.github+json, */*', 'user-agent': 'waf-releases/1' },
        etag: '',
        lastModified: '',
        allowedNetworks: allowedNetworksOf(valuesOf(store)),
        limits: { bytesMax: callLimits.requestBytesMax },
      },
      collect,
    );
    return result ?? new Uint8Array();
  } catch (error) {
    if (!(error instanceof FetchError)) throw error;
    const code = error.resultCode === 'blocked_address' ? 'failed_precondition' : 'unavailable';
    throw refusal(code, `${field}: ${error.message}`);
  }
}

async function collect(body: AsyncIterable<Buffer>): Promise<Uint8Array> {
  const pieces: Buffer[] = [];
  for await (const piece of body) pieces.push(piece);
  return new Uint8Array(Buffer.concat(pieces));
}

function valuesOf(store: ReadStore): Readonly<Record<string, unknown>> {
  return store.get(systemSettings, settingsId)?.values ?? {};
}

function timeOf(text: string) {
  return text === '' ? {} : { publishedAt: timestampFromDate(new Date(text)) };
}
