/** Finds the entries of IP lists by which bindings decided about addresses. Never counts. */

import { parseAddress } from '../../base/ip-address.ts';
import { entriesHolding, hasLapsed, type ReadChunk } from '../domain/access/ip-list-content.ts';
import type { ListEntryPlace } from '../domain/access/ip-list.ts';
import { ipListBindings } from '../store/collections.ts';
import type { ReadStore } from '../store/store.ts';
import { chunkReader, contentOf } from './list-contents.ts';

/**
 * The most specific entry of the binding's list that holds the address and had not lapsed at
 * `atMs`; the key '' where the list has none. Null for a binding that the tenant does not have.
 * Memory: what it read is kept, so make one for a batch and let it go.
 */
export function entryFinder(
  store: ReadStore,
  tenantId: string,
  atMs: number,
): (bindingId: string, address: string) => ListEntryPlace | null {
  const now = new Date(atMs).toISOString();
  const contents = new Map<string, ReturnType<typeof contentOf>>();
  const readChunk = rememberChunks(chunkReader(store));
  return (bindingId, address) => {
    const binding = store.get(ipListBindings, bindingId);
    if (binding === undefined || binding.tenantId !== tenantId) return null;
    const { ipListId: listId } = binding;
    const key = parseAddress(address);
    if (key === null) return { listId, entryKey: '' };
    const content = contents.get(listId) ?? contentOf(store, listId);
    contents.set(listId, content);
    const holding = entriesHolding(content, readChunk, key);
    return { listId, entryKey: holding.findLast((one) => !hasLapsed(one, now))?.key ?? '' };
  };
}

function rememberChunks(readChunk: ReadChunk): ReadChunk {
  const known = new Map<string, ReturnType<ReadChunk>>();
  return (id) => {
    const chunk = known.get(id) ?? readChunk(id);
    known.set(id, chunk);
    return chunk;
  };
}
