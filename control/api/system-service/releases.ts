/**
 * SystemService/ListBinaryReleases, GetBinaryRelease and DeleteBinaryRelease, and how a
 * release is shown. Importing one is in import-release.ts.
 */

import {
  BinaryReleaseSchema,
  type BinaryRelease,
  type SystemService,
} from '../../../proto/gen/waf/v1/system_pb.ts';
import { notFound, refusal } from '../../domain/errors.ts';
import type { BinaryReleaseRecord } from '../../domain/release/releases.ts';
import { isOpen } from '../../domain/release/upgrade-run.ts';
import { binaryReleases, upgradeRuns } from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';
import { callerOf, type Uses } from '../context.ts';
import { pageOf, toMessage } from '../convert.ts';
import type { Method } from '../method.ts';
import { drop, type Kept } from '../resource/owned.ts';

/** Imported releases. */
export const releaseKind: Kept<BinaryReleaseRecord> = {
  collection: binaryReleases,
  audit: 'binary_release',
  nameOf: ({ version }) => version,
};

/** Imported releases, newest import first. */
export function listBinaryReleases(
  parts: Uses<'store' | 'releases'>,
): Method<typeof SystemService, 'listBinaryReleases'> {
  return ({ page: asked }) => {
    const found = parts.store.list(binaryReleases).sort(newestFirst);
    const { items, page } = pageOf(found, asked);
    return { items: items.map((record) => showRelease(parts, record)), page };
  };
}

/** One release. */
export function getBinaryRelease(
  parts: Uses<'store' | 'releases'>,
): Method<typeof SystemService, 'getBinaryRelease'> {
  return ({ id }) => ({ release: showRelease(parts, storedRelease(parts.store, id)) });
}

/** Removes a release and its file. */
export function deleteBinaryRelease(
  parts: Uses<'store' | 'releases'>,
): Method<typeof SystemService, 'deleteBinaryRelease'> {
  return async ({ id }, context) => {
    const caller = callerOf(context);
    await parts.releases.exclusive(async () => {
      const { sha256 } = await parts.store.write((tx) => {
        const before = storedRelease(tx, id);
        refuseInUse(tx, id);
        drop(tx, caller, releaseKind, before);
        return before;
      });
      const shared = parts.store.list(binaryReleases).some((one) => one.sha256 === sha256);
      if (!shared) await parts.releases.remove(sha256);
    });
    return { result: { id, changed: true } };
  };
}

/** A release, and whether its file is there. */
export function showRelease(parts: Uses<'releases'>, record: BinaryReleaseRecord): BinaryRelease {
  const there = parts.releases.bytesOf(record.sha256) === Number(record.sizeBytes);
  return toMessage(BinaryReleaseSchema, {
    ...record,
    platform: `${record.platform}-${record.arch}`,
    fileStatus: there ? 'stored' : 'missing',
  });
}

/** Errors: failed_precondition while nodes are to download it. */
function refuseInUse(store: ReadStore, id: string): void {
  const run = store.list(upgradeRuns).find((one) => one.release?.id === id && isOpen(one));
  if (run === undefined) return;
  throw refusal('failed_precondition', `id: ${run.id} rolls ${id} out; cancel it first`);
}

/** Errors: not_found. */
function storedRelease(store: ReadStore, id: string): BinaryReleaseRecord {
  const found = store.get(binaryReleases, id);
  if (found === undefined) throw notFound('release', id);
  return found;
}

function newestFirst(left: BinaryReleaseRecord, right: BinaryReleaseRecord): number {
  if (left.importedAt !== right.importedAt) return left.importedAt < right.importedAt ? 1 : -1;
  return left.id < right.id ? -1 : 1;
}
