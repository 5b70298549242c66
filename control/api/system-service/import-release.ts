/**
 * SystemService/ImportBinaryRelease: one import at a time, streamed to disk, recorded only
 * when its signature is verified. Never unpacks or runs what it holds.
 */

import type { BinaryRelease, SystemService } from '../../../proto/gen/waf/v1/system_pb.ts';
import { FetchError, fetchOutgoing } from '../../access/outgoing.ts';
import type { Caller } from '../../auth/permissions.ts';
import { isHttpUrl } from '../../domain/policy/crs-releases.ts';
import { invalidField, refusal } from '../../domain/errors.ts';
import { signatureCharactersMax } from '../../../base/minisign.ts';
import { allowedNetworksOf } from '../../domain/settings/outgoing-settings.ts';
import { authoritiesFor } from '../../domain/release/release-index.ts';
import {
  claimedRelease,
  refuseWrongSignature,
  releaseIdOf,
  releaseKeysOf,
  type BinaryReleaseRecord,
  type ClaimedRelease,
} from '../../domain/release/releases.ts';
import { releaseLimits } from '../../limits/release-limits.ts';
import type { StagedFile } from '../../release/release-files.ts';
import { binaryReleases, settingsId, systemSettings } from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';
import { callerOf, type Uses } from '../context.ts';
import { isoNow } from '../convert.ts';
import type { Method } from '../method.ts';
import { keep } from '../resource/owned.ts';
import { releaseKind, showRelease } from './releases.ts';

interface Import {
  readonly text: string;
  readonly claimed: ClaimedRelease;
  readonly caller: Caller;
}

/** Keeps a signed release; the same one again changes nothing. */
export function importBinaryRelease(
  parts: Uses<'store' | 'clock' | 'fetchLimits' | 'releases'>,
): Method<typeof SystemService, 'importBinaryRelease'> {
  let busy = false;
  return async ({ tarball, sourceUrl, signature }, context) => {
    const caller = callerOf(context);
    if ((sourceUrl === '') === (tarball.length === 0)) {
      throw invalidField('tarball', 'is required, or a sourceUrl; not both');
    }
    if (sourceUrl !== '' && !isHttpUrl(sourceUrl)) {
      throw invalidField('sourceUrl', 'must be an http(s) URL without credentials');
    }
    if (busy) throw refusal('aborted', 'another release is being imported; try again');
    busy = true;
    try {
      const trusted = releaseKeysOf(valuesOf(parts.store));
      // Without a trusted key nothing is fetched at all.
      const fetches = signature === '' && sourceUrl !== '' && trusted.length > 0;
      const text = fetches ? await fetchSignature(parts, sourceUrl) : signature;
      const claimed = claimedRelease(text, trusted);
      const bytesMax = roomFor(parts, releaseIdOf(claimed.facts));
      const use = (file: StagedFile) => keepRelease(parts, file, { text, claimed, caller });
      const release =
        sourceUrl === ''
          ? await parts.releases.stage(pieces(tarball), bytesMax, use)
          : await fetchBody(parts, sourceUrl, bytesMax, (body) =>
              parts.releases.stage(body, bytesMax, use),
            );
      return { release };
    } finally {
      busy = false;
    }
  };
}

/** Verifies what was written, then keeps the file and its record. */
function keepRelease(
  parts: Uses<'store' | 'clock' | 'releases'>,
  file: StagedFile,
  { text, claimed, caller }: Import,
): Promise<BinaryRelease> {
  // A key may have lost its trust while the file came.
  const trusted = releaseKeysOf(valuesOf(parts.store));
  refuseWrongSignature(claimed.signature, file.blake2b512, trusted);
  return parts.releases.exclusive(async () => {
    const { facts, signature } = claimed;
    const id = releaseIdOf(facts);
    const before = parts.store.get(binaryReleases, id);
    if (before !== undefined) refuseOther(before, file, claimed);
    await file.keep();
    // It may have been missing; its record stays as it is.
    if (before !== undefined) return showRelease(parts, before);
    const now = isoNow(parts.clock);
    const record: BinaryReleaseRecord = {
      id,
      ...facts,
      sha256: file.sha256,
      sizeBytes: String(file.bytes),
      signature: text,
      keyId: signature.keyId,
      importedAt: now,
      createdAt: now,
      updatedAt: now,
    };
    await parts.store.write((tx) =>
      keep(tx, caller, releaseKind, null, record, { action: 'import' }),
    );
    return showRelease(parts, record);
  });
}

/** A version is one file for ever: what nodes run must not change under its name. */
function refuseOther(before: BinaryReleaseRecord, file: StagedFile, { facts }: ClaimedRelease) {
  if (before.sha256 === file.sha256 && before.channel === facts.channel) return;
  const what = before.sha256 === file.sha256 ? 'in another channel' : 'with other content';
  throw refusal('already_exists', `tarball: ${before.id} is imported ${what}; delete it first`);
}

/** Bytes that a release may have. Errors: resource_exhausted. */
function roomFor({ store }: Uses<'store'>, id: string): number {
  const { releasesMax, releasesBytesMax, packageBytesMax } = releaseLimits;
  const others = store.list(binaryReleases).filter((one) => one.id !== id);
  const used = others.reduce((sum, { sizeBytes }) => sum + Number(sizeBytes), 0);
  const room = Math.min(packageBytesMax, releasesBytesMax - used);
  if (others.length < releasesMax && room > 0) return room;
  const most = `${releasesMax} releases of together ${releasesBytesMax} bytes`;
  throw refusal('resource_exhausted', `tarball: at most ${most} are kept; delete one first`);
}

async function fetchSignature(
  parts: Uses<'store' | 'fetchLimits'>,
  sourceUrl: string,
): Promise<string> {
  const url = new URL(sourceUrl);
  url.pathname += '.minisig';
  const collect = async (body: AsyncIterable<Buffer>): Promise<string> => {
    const found: Buffer[] = [];
    for await (const piece of body) found.push(piece);
    return Buffer.concat(found).toString('latin1');
  };
  return fetchBody(parts, url.href, signatureCharactersMax, collect);
}

/** Errors: failed_precondition for an address that is not allowed, unavailable. */
async function fetchBody<T>(
  { store, fetchLimits }: Uses<'store' | 'fetchLimits'>,
  url: string,
  bytesMax: number,
  read: (body: AsyncIterable<Buffer>) => Promise<T>,
): Promise<T> {
  const limits = { timeoutMs: releaseLimits.fetchTimeoutMs, bytesMax, ...fetchLimits };
  const request = {
    url,
    // The file is signed as it is: a coding on the way would only cost time.
    headers: { 'user-agent': 'waf-releases/1', 'accept-encoding': 'identity' },
    etag: '',
    lastModified: '',
    allowedNetworks: allowedNetworksOf(valuesOf(store)),
    caPem: authoritiesFor(valuesOf(store), url),
    limits,
  };
  try {
    const { result } = await fetchOutgoing(request, read);
    if (result === null) throw new FetchError('http_error', 'the source sent no file');
    return result;
  } catch (error) {
    if (!(error instanceof FetchError)) throw error;
    const blocked = error.resultCode === 'blocked_address';
    const hint = blocked ? '; see the setting outgoing.allowed_networks' : '';
    const code = blocked ? 'failed_precondition' : 'unavailable';
    throw refusal(code, `sourceUrl: ${error.message}${hint}`);
  }
}

async function* pieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(bytes);
}

function valuesOf(store: ReadStore): Readonly<Record<string, unknown>> {
  return store.get(systemSettings, settingsId)?.values ?? {};
}
