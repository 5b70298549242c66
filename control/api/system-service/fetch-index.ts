/**
 * Fetches the signed list of releases: two GETs, bounded, to the address in the settings alone.
 * Nothing of this installation is sent, not even its version.
 */

import { createHash } from 'node:crypto';
import { signatureCharactersMax } from '../../../base/minisign.ts';
import { FetchError, fetchOutgoing } from '../../access/outgoing.ts';
import { refusal } from '../../domain/errors.ts';
import { allowedNetworksOf } from '../../domain/settings/outgoing-settings.ts';
import {
  authoritiesFor,
  readReleaseIndex,
  releaseIndexKey,
  requireKeys,
  type ReleaseIndex,
} from '../../domain/release/release-index.ts';
import { releaseKeysOf } from '../../domain/release/releases.ts';
import { releaseLimits } from '../../limits/release-limits.ts';
import { settingsId, systemSettings } from '../../store/collections.ts';
import type { Uses } from '../context.ts';

/** Errors: failed_precondition for a list that is refused or an address that is, unavailable. */
export async function fetchReleaseIndex(
  parts: Uses<'store' | 'clock' | 'fetchLimits'>,
  url: string,
  seenMs: number,
): Promise<ReleaseIndex> {
  const values = () => parts.store.get(systemSettings, settingsId)?.values ?? {};
  requireKeys(releaseKeysOf(values()));
  const signature = await fetchBytes(parts, `${url}.minisig`, signatureCharactersMax);
  const bytes = await fetchBytes(parts, url, releaseLimits.indexBytesMax);
  const blake2b512 = createHash('blake2b512').update(bytes).digest();
  const fetched = { bytes, blake2b512, signature: signature.toString('latin1') };
  const times = { nowMs: parts.clock.nowMs(), seenMs };
  // A key may have lost its trust while the list came.
  return readReleaseIndex(fetched, releaseKeysOf(values()), times);
}

async function fetchBytes(
  { store, fetchLimits }: Uses<'store' | 'fetchLimits'>,
  url: string,
  bytesMax: number,
): Promise<Buffer> {
  const limits = { timeoutMs: releaseLimits.indexTimeoutMs, ...fetchLimits, bytesMax };
  const values = store.get(systemSettings, settingsId)?.values ?? {};
  const request = {
    url,
    headers: { 'user-agent': 'waf-releases/1', 'accept-encoding': 'identity' },
    etag: '',
    lastModified: '',
    allowedNetworks: allowedNetworksOf(values),
    caPem: authoritiesFor(values, url),
    limits,
  };
  try {
    const { result } = await fetchOutgoing(request, collect);
    return result ?? Buffer.alloc(0);
  } catch (error) {
    if (!(error instanceof FetchError)) throw error;
    const blocked = error.resultCode === 'blocked_address';
    const hint = blocked ? '; see the setting outgoing.allowed_networks' : '';
    const code = blocked ? 'failed_precondition' : 'unavailable';
    throw refusal(code, `${releaseIndexKey}: ${error.message}${hint}`);
  }
}

async function collect(body: AsyncIterable<Buffer>): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of body) pieces.push(piece);
  return Buffer.concat(pieces);
}
