/**
 * Owns what is kept of publications: a row for each, and the signed index of the latest. Rows and
 * indexes past their bounds go when new ones come.
 */

import { fromBinary, toBinary } from '@bufbuild/protobuf';
import {
  SignedRuntimeBundleSchema,
  type SignedRuntimeBundle,
} from '../../proto/gen/waf/runtime/v1/bundle_pb.ts';
import { publishLimits } from '../../engine/base/limits.ts';
import { publications, type NodeDelivery, type PublicationRecord } from '../store/collections.ts';
import type { ReadStore, Store, WriteStore } from '../store/store.ts';

/** Keeps a publication and forgets the oldest. */
export function keepPublication(
  tx: WriteStore,
  revision: string,
  signed: SignedRuntimeBundle,
  createdAtMs: number,
): void {
  tx.putBlob(blobName(revision), toBinary(SignedRuntimeBundleSchema, signed));
  tx.put(publications, {
    id: rowId(revision),
    revision,
    sha256: signed.sha256,
    createdAt: new Date(createdAtMs).toISOString(),
  });
  const forgotten = Number(revision) - publishLimits.indexesKept;
  if (forgotten > 0) tx.removeBlob(blobName(String(forgotten)));
  const oldest = Number(revision) - publishLimits.publicationsKept;
  if (oldest > 0) tx.remove(publications, rowId(String(oldest)));
}

/** The signed index of a publication; undefined when it is not kept. */
export function publishedIndex(
  store: ReadStore,
  revision: string,
): SignedRuntimeBundle | undefined {
  const bytes = store.blob(blobName(revision));
  return bytes === undefined ? undefined : fromBinary(SignedRuntimeBundleSchema, bytes);
}

/** The row of a publication. */
export function publicationRow(store: ReadStore, revision: string): PublicationRecord | undefined {
  return store.get(publications, rowId(revision));
}

/** Notes what became of a publication on a node; nothing when its row is gone. */
export async function noteDelivery(
  store: Store,
  revision: string,
  nodeId: string,
  delivery: NodeDelivery,
): Promise<void> {
  await store.write((tx) => {
    const row = publicationRow(tx, revision);
    if (row === undefined) return;
    tx.put(publications, { ...row, nodes: { ...row.nodes, [nodeId]: delivery } });
  });
}

/** The latest row. */
export function latestPublication(store: ReadStore): PublicationRecord | undefined {
  return [...store.walk(publications, { reverse: true, limit: 1 })][0];
}

function rowId(revision: string): string {
  return revision.padStart(12, '0');
}

function blobName(revision: string): string {
  return `publication-${revision}`;
}
