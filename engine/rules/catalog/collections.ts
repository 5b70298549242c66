/**
 * Owns opening, changing and saving persistent collections (IP, GLOBAL, SESSION, USER, RESOURCE)
 * for one transaction. Storage is injected; without a store a collection lives for one transaction.
 */

import type { ByteString } from '../../base/byte-string.ts';
import { ruleRunLimits } from '../../base/limits.ts';
import type { StoredValue } from './ports.ts';
import type { PersistentName, Transaction } from './transaction.ts';

const names = new Set<string>(['ip', 'global', 'session', 'user', 'resource']);

/** True for the lower-case name of a persistent collection. */
export function isPersistentName(name: string): name is PersistentName {
  return names.has(name);
}

/**
 * Opens a collection; the first opening of a transaction stands, later ones change nothing.
 * Source: ModSecurity 2.9 init_collection, with its variables KEY, IS_NEW, CREATE_TIME,
 * UPDATE_COUNTER and LAST_UPDATE_TIME.
 */
export function openCollection(tx: Transaction, name: PersistentName, key: ByteString): void {
  if (tx.persistent.has(name)) return;
  const stored = tx.ports.collections?.load(name, key) ?? null;
  const values = new Map<string, StoredValue>(stored ?? []);
  if (stored === null) {
    values.set('create_time', forever(nowSeconds(tx)));
    values.set('update_counter', forever('0'));
  }
  values.set('key', forever(key));
  values.set('is_new', forever(stored === null ? '1' : '0'));
  tx.persistent.set(name, { key, values, changed: false });
}

/** Sets a value; nothing happens while the collection is not open. Name in lower case. */
export function setStored(
  tx: Transaction,
  collection: PersistentName,
  name: string,
  value: ByteString,
): void {
  const open = tx.persistent.get(collection);
  if (!open) return;
  const old = open.values.get(name);
  if (!old && open.values.size >= ruleRunLimits.variablesSetMax) return;
  open.values.set(name, { value, expiresAtMs: old?.expiresAtMs ?? 0 });
  open.changed = true;
}

/** Removes a value. */
export function deleteStored(tx: Transaction, collection: PersistentName, name: string): void {
  const open = tx.persistent.get(collection);
  if (open?.values.delete(name)) open.changed = true;
}

/** Lets a value end after `seconds`; at once when that is not positive. */
export function expireStored(
  tx: Transaction,
  collection: PersistentName,
  name: string,
  seconds: number,
): void {
  const open = tx.persistent.get(collection);
  const old = open?.values.get(name);
  if (!open || !old) return;
  if (seconds <= 0) open.values.delete(name);
  else {
    const expiresAtMs = tx.ports.clock.nowMs() + 1000 * seconds;
    open.values.set(name, { value: old.value, expiresAtMs });
  }
  open.changed = true;
}

/** Writes what has changed; call once when the transaction ends, on every path. */
export function saveCollections(tx: Transaction): void {
  const store = tx.ports.collections;
  for (const [name, open] of tx.persistent) {
    if (!open.changed || !store) continue;
    const counter = Number(open.values.get('update_counter')?.value ?? '0') || 0;
    open.values.set('update_counter', forever(String(counter + 1)));
    open.values.set('last_update_time', forever(nowSeconds(tx)));
    store.save(name, open.key, open.values);
  }
}

function forever(value: ByteString): StoredValue {
  return { value, expiresAtMs: 0 };
}

function nowSeconds(tx: Transaction): string {
  return String(Math.floor(tx.ports.clock.nowMs() / 1000));
}
