/**
 * The entries of lists in the store: small edits inside one transaction, whole contents in steps
 * beside what is in use. Chunks that nothing names any more are noted and removed, also after a
 * crash. Never checks what an entry may be.
 */

import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { toAppError } from '../../base/errors.ts';
import { refusal } from '../domain/errors.ts';
import { accessLimits } from '../limits/access-limits.ts';
import {
  ContentBuilder,
  editContent,
  emptyContent,
  type IpEntry,
  type IpListChunk,
  type IpListContent,
  type ReadChunk,
} from '../domain/access/ip-list-content.ts';
import { ipListChunks, ipListContents, ipListGarbage } from '../store/collections.ts';
import type { ReadStore, Store, WriteStore } from '../store/store.ts';

/** A content whose chunks are written, but which nothing names yet. */
export interface StagedContent {
  readonly content: IpListContent;
  readonly garbageId: string;
}

/** The directory of a list; an empty one when it never had entries. */
export function contentOf(store: ReadStore, id: string): IpListContent {
  return store.get(ipListContents, id) ?? emptyContent(id);
}

/** Reads chunks from the store. */
export function chunkReader(store: ReadStore): ReadChunk {
  return (id) => store.get(ipListChunks, id);
}

/** Sets and removes entries inside the running transaction; returns the new directory. */
export function editEntries(
  tx: WriteStore,
  listId: string,
  set: ReadonlyMap<string, IpEntry>,
  remove: ReadonlySet<string>,
  now: string,
): IpListContent {
  const before = contentOf(tx, listId);
  const change = editContent(before, chunkReader(tx), set, remove, chunkIds(listId));
  for (const chunk of change.added) tx.put(ipListChunks, chunk);
  for (const id of change.removed) tx.remove(ipListChunks, id);
  const changedAt = change.content.etag === before.etag ? (before.changedAt ?? now) : now;
  const content = { ...change.content, changedAt };
  tx.put(ipListContents, content);
  return content;
}

/**
 * Writes the chunks of sorted entries, each key once, in steps between which others get their turn.
 * Adopt or drop what it resolves to.
 */
export async function stageContent(
  store: Store,
  contentId: string,
  entries: Iterable<IpEntry>,
): Promise<StagedContent> {
  const garbageId = randomUUID();
  const builder = new ContentBuilder(contentId, chunkIds(contentId));
  const written: string[] = [];
  let waiting: IpListChunk[] = [];
  const flush = async (): Promise<void> => {
    const batch = waiting;
    waiting = [];
    written.push(...batch.map(({ id }) => id));
    await store.write((tx) => {
      if (written.length > batch.length) requireStaged(tx, garbageId);
      tx.put(ipListGarbage, { id: garbageId, chunkIds: [...written] });
      for (const chunk of batch) tx.put(ipListChunks, chunk);
    });
    await nextTurn();
  };
  try {
    for (const entry of entries) {
      const full = builder.add(entry);
      if (full === null) continue;
      waiting.push(full);
      if (waiting.length >= accessLimits.chunksPerWriteMax) await flush();
    }
    const last = builder.flush();
    if (last !== null) waiting.push(last);
    if (waiting.length > 0) await flush();
  } catch (error) {
    await dropGarbage(store, garbageId);
    throw error;
  }
  return { content: builder.content(), garbageId };
}

/**
 * Makes a staged content that of a list; what it had before becomes garbage under the same id, for
 * `dropGarbage` after the transaction. Errors: aborted, where another controller removed it.
 */
export function adoptContent(tx: WriteStore, staged: StagedContent, now: string): IpListContent {
  const { content, garbageId } = staged;
  if (content.chunks.length > 0) requireStaged(tx, garbageId);
  const before = contentOf(tx, content.id);
  const changedAt = before.etag === content.etag ? (before.changedAt ?? now) : now;
  const kept = { ...content, changedAt };
  tx.put(ipListContents, kept);
  tx.put(ipListGarbage, { id: garbageId, chunkIds: before.chunks.map(({ id }) => id) });
  return kept;
}

/** Takes a directory away; its chunks become garbage, whose id is returned. */
export function removeContent(tx: WriteStore, contentId: string): string {
  const garbageId = randomUUID();
  const before = contentOf(tx, contentId);
  tx.put(ipListGarbage, { id: garbageId, chunkIds: before.chunks.map(({ id }) => id) });
  tx.remove(ipListContents, contentId);
  return garbageId;
}

/** Gives the chunks of one directory to another id without copying them. */
export function renameContent(tx: WriteStore, from: string, to: string, now: string): string {
  const moved = contentOf(tx, from);
  const garbageId = removeContent(tx, to);
  tx.put(ipListContents, { ...moved, id: to, changedAt: now });
  tx.remove(ipListContents, from);
  return garbageId;
}

/**
 * Removes chunks that nothing names, in steps. What the storage refuses stays noted for the next
 * start: whoever asks has their own outcome already, which this must not hide.
 */
export async function dropGarbage(store: Store, garbageId: string): Promise<void> {
  try {
    while (await store.write((tx) => dropSome(tx, garbageId))) await nextTurn();
  } catch (error) {
    if (toAppError(error).source !== 'storage') throw error;
  }
}

/**
 * Removes some chunks; returns whether more are left. It reads their names inside the transaction:
 * where a commit was not confirmed, what looked staged may be in use.
 */
function dropSome(tx: WriteStore, garbageId: string): boolean {
  const noted = tx.get(ipListGarbage, garbageId);
  if (noted === undefined) return false;
  for (const id of noted.chunkIds.slice(0, accessLimits.chunksPerWriteMax)) {
    tx.remove(ipListChunks, id);
  }
  const chunkIds = noted.chunkIds.slice(accessLimits.chunksPerWriteMax);
  if (chunkIds.length === 0) tx.remove(ipListGarbage, garbageId);
  else tx.put(ipListGarbage, { id: garbageId, chunkIds });
  return chunkIds.length > 0;
}

/** Errors: aborted, where a controller that started meanwhile took it for left by a crash. */
function requireStaged(tx: ReadStore, garbageId: string): void {
  if (tx.get(ipListGarbage, garbageId) !== undefined) return;
  throw refusal('aborted', 'entries: another controller removed them while it started; try again');
}

/**
 * Removes staged files of a crashed process. Runs before anything else is staged here; another
 * controller that stages meanwhile notices.
 */
export async function dropAllGarbage(store: Store): Promise<void> {
  for (const { id } of store.list(ipListGarbage)) await dropGarbage(store, id);
}

function chunkIds(listId: string): () => string {
  const build = randomUUID().slice(0, 13);
  let next = 0;
  return () => `${listId}/${build}/${String(next++).padStart(6, '0')}`;
}
