/**
 * What is kept of publications: a row for each, and the signed index of the latest. Rows and
 * indexes past their bounds go when new ones come.
 */

import { fromBinary, toBinary } from '@bufbuild/protobuf';
import {
  SignedRuntimeBundleSchema,
  type SignedRuntimeBundle,
} from '../../proto/gen/waf/runtime/v1/bundle_pb.ts';
import { publishLimits } from '../limits/store-limits.ts';
import { publications, type NodeDelivery, type PublicationRecord } from '../store/collections.ts';
import type { ReadStore, Store, WriteStore } from '../store/store.ts';

/**
 * Keeps a publication with what it says of held policies and the intents that it carries, and
 * forgets the oldest.
 */
export function keepPublication(
  tx: WriteStore,
  revision: string,
  signed: SignedRuntimeBundle,
  createdAtMs: number,
  note: string,
  intents: readonly string[],
): void {
  tx.putBlob(blobName(revision), toBinary(SignedRuntimeBundleSchema, signed));
  tx.put(publications, {
    id: rowId(revision),
    revision,
    sha256: signed.sha256,
    createdAt: new Date(createdAtMs).toISOString(),
    ...(note === '' ? {} : { heldNote: note }),
    ...(intents.length === 0 ? {} : { intents }),
  });
  const forgotten = Number(revision) - publishLimits.indexesKept;
  if (forgotten > 0) tx.removeBlob(blobName(String(forgotten)));
  const surplus = tx.count(publications) - publishLimits.publicationsKept;
  if (surplus <= 0) return;
  const limit = Math.min(surplus, publishLimits.publicationsForgottenMax);
  for (const { id } of [...tx.walk(publications, { limit })]) tx.remove(publications, id);
}

/**
 * A page of rows, the newest first, with the number of all. Cost: reads the rows up to the end of
 * the page, of which there are `publishLimits.publicationsKept` at most.
 */
export function pageOfPublications(
  store: ReadStore,
  start: number,
  count: number,
): { readonly rows: readonly PublicationRecord[]; readonly total: number } {
  const total = store.count(publications);
  const rows: PublicationRecord[] = [];
  if (start >= total) return { rows, total };
  let at = 0;
  for (const row of store.walk(publications, { reverse: true, limit: start + count })) {
    if (at++ >= start) rows.push(row);
  }
  return { rows, total };
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

/**
 * Notes what became of publications on nodes; nothing for one whose row is gone. What many nodes
 * answer while a write is on its way is the next write: a row names all its nodes, so that a write
 * for each of them would cost the square of their number.
 */
export class DeliveryNotes {
  readonly #store: Store;
  #waiting: DeliveryNote[] = [];
  #next: Promise<void> | null = null;
  #last: Promise<void> = Promise.resolve();

  constructor(store: Store) {
    this.#store = store;
  }

  /** Resolves when the note is on disk. Errors: those of the store. */
  note(revision: string, nodeId: string, delivery: NodeDelivery): Promise<void> {
    this.#waiting.push({ revision, nodeId, delivery });
    this.#next ??= this.#last.then(() => this.#keep());
    return this.#next;
  }

  async #keep(): Promise<void> {
    const notes = this.#waiting;
    this.#waiting = [];
    const write = this.#store.write((tx) => {
      for (const [revision, nodes] of byRevision(notes)) {
        const row = publicationRow(tx, revision);
        if (row !== undefined) tx.put(publications, { ...row, nodes: { ...row.nodes, ...nodes } });
      }
    });
    this.#last = write.catch(() => undefined);
    this.#next = null;
    await write;
  }
}

interface DeliveryNote {
  readonly revision: string;
  readonly nodeId: string;
  readonly delivery: NodeDelivery;
}

/** The latest note of each node, by revision. */
function byRevision(notes: readonly DeliveryNote[]): Map<string, Record<string, NodeDelivery>> {
  const found = new Map<string, Record<string, NodeDelivery>>();
  for (const { revision, nodeId, delivery } of notes) {
    const nodes = found.get(revision) ?? {};
    nodes[nodeId] = delivery;
    found.set(revision, nodes);
  }
  return found;
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
