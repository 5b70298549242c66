/** Takes away what has lapsed: entries past their expiry, held updates nobody decided on. */

import type { Clock } from '../../base/clock.ts';
import {
  entriesOf,
  hasLapsed,
  nextExpiry,
  type IpListContent,
} from '../domain/access/ip-list-content.ts';
import { heldContentId } from '../domain/access/ip-list.ts';
import { ipListContents, ipLists, shadowRuns } from '../store/collections.ts';
import type { ReadStore, Store } from '../store/store.ts';
import {
  chunkReader,
  contentOf,
  dropGarbage,
  editEntries,
  removeContent,
} from './list-contents.ts';

/** Directories are shared while they do not change; each is looked through once. */
const knownExpiry = new WeakMap<IpListContent, string>();

/** Removes what has lapsed by now, list by list. */
export async function removeLapsed(store: Store, clock: Clock): Promise<void> {
  const now = new Date(clock.nowMs()).toISOString();
  for (const content of store.list(ipListContents)) {
    let expiry = knownExpiry.get(content);
    if (expiry === undefined) {
      expiry = nextExpiry(content);
      knownExpiry.set(content, expiry);
    }
    if (expiry !== '' && expiry <= now) await removeFrom(store, content.id, now);
  }
  await endShadowRuns(store, now);
  for (const list of store.list(ipLists)) {
    if ((list.held?.expiresAt ?? '~') <= now) await dropHeld(store, list.id);
  }
}

/** Nodes ended these runs by themselves; from now on they need not hold their rules. */
async function endShadowRuns(store: Store, now: string): Promise<void> {
  const over = store.list(shadowRuns).filter(({ stopped, endsAt }) => !stopped && endsAt <= now);
  if (over.length === 0) return;
  await store.write((tx) => {
    for (const { id } of over) {
      const run = tx.get(shadowRuns, id);
      if (run !== undefined && run.endsAt <= now) tx.put(shadowRuns, { ...run, stopped: true });
    }
  });
}

async function removeFrom(store: Store, contentId: string, now: string): Promise<void> {
  await store.write((tx) => {
    const lapsed = lapsedKeys(tx, contentId, now);
    if (lapsed.size === 0) return;
    editEntries(tx, contentId, new Map(), lapsed, now);
    const list = tx.get(ipLists, contentId);
    if (list === undefined) return;
    tx.audit({
      actorId: 'system',
      actorName: 'system',
      tenantId: list.tenantId,
      action: 'expire_entries',
      resourceType: 'ip_list',
      resourceId: list.id,
      resourceName: list.name,
      after: { removed: lapsed.size },
    });
  });
}

function lapsedKeys(store: ReadStore, contentId: string, now: string): Set<string> {
  const readChunk = chunkReader(store);
  const lapsed = new Set<string>();
  for (const { id, expiresAt } of contentOf(store, contentId).chunks) {
    const chunk = expiresAt !== undefined && expiresAt <= now ? readChunk(id) : undefined;
    if (chunk === undefined) continue;
    for (const entry of entriesOf(chunk)) if (hasLapsed(entry, now)) lapsed.add(entry.key);
  }
  return lapsed;
}

async function dropHeld(store: Store, listId: string): Promise<void> {
  const garbage = await store.write((tx) => {
    const list = tx.get(ipLists, listId);
    if (list === undefined) return '';
    const { held: _held, ...rest } = list;
    const status = list.sync?.status === 'held' ? 'healthy' : (list.sync?.status ?? '');
    tx.put(ipLists, { ...rest, sync: { ...list.sync, status } });
    return removeContent(tx, heldContentId(listId));
  });
  if (garbage !== '') await dropGarbage(store, garbage);
}
