/**
 * SystemService/CheckForUpdates. The product asks nobody unless the setting release.index_url
 * names a signed list: without it the status is `unconfigured`, beside newer releases that were
 * imported. Downloads no release, and never offers one that is not newer.
 */

import {
  BinaryReleaseSchema,
  CheckForUpdatesResponseSchema,
  type BinaryRelease,
  type SystemService,
} from '../../../proto/gen/waf/v1/system_pb.ts';
import { refusal } from '../../domain/errors.ts';
import {
  indexUrlOf,
  seenIndexId,
  type IndexedRelease,
  type ReleaseIndex,
} from '../../domain/release/release-index.ts';
import { compareVersions } from '../../domain/release/release-order.ts';
import { releaseIdOf } from '../../domain/release/releases.ts';
import { binaryReleases, rulesets, settingsId, systemSettings } from '../../store/collections.ts';
import { seenIndexes } from '../../store/node-collections.ts';
import type { Uses } from '../context.ts';
import { isoNow, toMessage } from '../convert.ts';
import { showRuleset } from '../crs-service/rulesets.ts';
import type { Method } from '../method.ts';
import { fetchReleaseIndex } from './fetch-index.ts';
import { showRelease } from './releases.ts';

/** Releases of a channel that are newer than the running program, newest first. */
export function checkForUpdates(
  parts: Uses<'store' | 'clock' | 'fetchLimits' | 'build' | 'releases'>,
): Method<typeof SystemService, 'checkForUpdates'> {
  let busy = false;
  const ask = async (url: string): Promise<ReleaseIndex> => {
    if (busy) throw refusal('aborted', 'another check is being made; try again');
    busy = true;
    try {
      const seenMs = seenIndexMs(parts, url);
      const index = await fetchReleaseIndex(parts, url, seenMs);
      if (index.issuedMs > seenMs) await keepSeenIndex(parts, url, index.issuedMs);
      return index;
    } finally {
      busy = false;
    }
  };
  return async ({ channel: asked }) => {
    const channel = asked === '' ? 'stable' : asked;
    const url = indexUrlOf(parts.store.get(systemSettings, settingsId)?.values ?? {});
    const listed = url === '' ? null : (await ask(url)).releases;
    const ofChannel = listed?.filter((one) => one.channel === channel) ?? [];
    const imported = newerImported(parts, channel);
    const known = new Set(imported.map(({ id }) => id));
    const found = ofChannel
      .filter(({ version }) => isNewer(parts, version))
      .map((one) => showIndexed(one))
      .filter(({ id }) => !known.has(id));
    const releases = [...imported, ...found].sort((left, right) =>
      compareVersions(right.version, left.version),
    );
    const status = statusOf(parts, listed === null ? null : ofChannel);
    const facts = { status, channel, checkedAt: isoNow(parts.clock) };
    const stored = listed === null ? [] : parts.store.list(rulesets);
    const crsRulesets = stored.map(({ id }) => showRuleset(parts.store, id));
    return { ...toMessage(CheckForUpdatesResponseSchema, facts), releases, crsRulesets };
  };
}

/** When the newest list of a source was signed: an older one must not come after it. */
function seenIndexMs({ store }: Uses<'store'>, url: string): number {
  const seen = store.get(seenIndexes, seenIndexId);
  return seen?.url === url ? Date.parse(seen.issuedAt) : 0;
}

/** Errors: store_full, store_failed; then the list is not used either. */
async function keepSeenIndex(
  { store }: Uses<'store'>,
  url: string,
  issuedMs: number,
): Promise<void> {
  const issuedAt = new Date(issuedMs).toISOString();
  await store.write((tx) => tx.put(seenIndexes, { id: seenIndexId, url, issuedAt }));
}

/** By the releases for this machine; null for no list. */
function statusOf(parts: Uses<'build'>, releases: readonly IndexedRelease[] | null): string {
  if (releases === null) return 'unconfigured';
  const own = releases.filter(
    ({ platform, arch }) => platform === process.platform && arch === process.arch,
  );
  if (own.length === 0) return 'no_release';
  return own.some(({ version }) => isNewer(parts, version)) ? 'available' : 'current';
}

function isNewer({ build }: Uses<'build'>, version: string): boolean {
  return compareVersions(version, build.version) > 0;
}

function newerImported(
  parts: Uses<'store' | 'build' | 'releases'>,
  channel: string,
): BinaryRelease[] {
  return parts.store
    .list(binaryReleases)
    .filter((one) => one.channel === channel && isNewer(parts, one.version))
    .map((record) => showRelease(parts, record));
}

/** A release that was not imported: it has no time of import, and an address instead of a file. */
function showIndexed(release: IndexedRelease): BinaryRelease {
  const { version, channel, platform, arch, sha256, signature, keyId, sizeBytes, url } = release;
  return toMessage(BinaryReleaseSchema, {
    ...{ id: releaseIdOf(release), version, channel, sha256, signature, keyId },
    platform: `${platform}-${arch}`,
    sizeBytes: String(sizeBytes),
    fileStatus: 'available',
    sourceUrl: url,
  });
}
