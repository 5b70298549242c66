/**
 * Opens, changes and saves persistent collections (IP, GLOBAL, SESSION, USER, RESOURCE)
 * for one transaction. Storage is injected; without a store a collection lives for one transaction.
 * What is saved is what was done, not what it came to: other requests change the same counters.
 */

import type { ByteString } from '../../../base/byte-string.ts';
import { ruleRunLimits } from '../../../base/rule-limits.ts';
import {
  changeBy,
  changeOfExpiry,
  changeTo,
  joinChanges,
  removal,
  type StoredChange,
  type StoredText,
} from '../../base/stored-change.ts';
import type { OpenCollection, PersistentName, Transaction } from './transaction.ts';

const names = new Set<string>(['ip', 'global', 'session', 'user', 'resource']);

/** True for the lower-case name of a persistent collection. */
export function isPersistentName(name: string): name is PersistentName {
  return names.has(name);
}

/**
 * Opens a collection; the first opening of a transaction stands, later ones change nothing.
 * Source: ModSecurity 2.9 init_collection, with its variables KEY, IS_NEW, CREATE_TIME, TIMEOUT,
 * UPDATE_COUNTER, UPDATE_RATE and LAST_UPDATE_TIME.
 */
export function openCollection(tx: Transaction, name: PersistentName, key: ByteString): void {
  if (tx.persistent.has(name)) return;
  tx.persistent.set(name, new LazyCollection(tx, name, key));
}

/** What is stored is read when something asks for it: CRS opens collections for every request. */
class LazyCollection implements OpenCollection {
  readonly key: ByteString;
  readonly changes = new Map<string, StoredChange>();
  changed = false;
  private readonly tx: Transaction;
  private readonly name: PersistentName;
  private loaded: Map<string, StoredText> | null = null;

  constructor(tx: Transaction, name: PersistentName, key: ByteString) {
    this.tx = tx;
    this.name = name;
    this.key = key;
  }

  get values(): Map<string, StoredText> {
    return (this.loaded ??= loadValues(this.tx, this.name, this.key, this.changes));
  }
}

function loadValues(
  tx: Transaction,
  name: PersistentName,
  key: ByteString,
  changes: Map<string, StoredChange>,
): Map<string, StoredText> {
  const stored = tx.ports.collections?.load(name, storageKey(tx, key)) ?? null;
  const values = new Map<string, StoredText>(stored ?? []);
  if (!values.has('create_time')) {
    values.set('create_time', forever(nowSeconds(tx)));
    changes.set('create_time', changeTo(nowSeconds(tx)));
  }
  if (!values.has('update_counter')) values.set('update_counter', forever('0'));
  if (!values.has('timeout')) {
    values.set('timeout', forever(String(tx.settings.collectionTimeoutSeconds)));
  }
  values.set('update_rate', forever(updateRate(tx, values)));
  values.set('key', forever(key));
  values.set('is_new', forever(stored === null ? '1' : '0'));
  return values;
}

/** Sets a value; nothing happens while the collection is not open. Name in lower case. */
export function setStored(
  tx: Transaction,
  collection: PersistentName,
  name: string,
  value: ByteString,
): void {
  put(tx.persistent.get(collection), name, value, changeTo(value));
}

/** Lets a counter grow by `added`, which makes it `value`; else as `setStored`. */
export function addStored(
  tx: Transaction,
  collection: PersistentName,
  name: string,
  added: number,
  value: ByteString,
): void {
  put(tx.persistent.get(collection), name, value, changeBy(added));
}

function put(
  open: OpenCollection | undefined,
  name: string,
  value: ByteString,
  change: StoredChange,
): void {
  if (!open) return;
  const old = open.values.get(name);
  if (!old && open.values.size >= ruleRunLimits.variablesSetMax) return;
  open.values.set(name, { value, expiresAtMs: old?.expiresAtMs ?? 0 });
  note(open, name, change);
}

/** Removes a value. */
export function deleteStored(tx: Transaction, collection: PersistentName, name: string): void {
  const open = tx.persistent.get(collection);
  if (open?.values.delete(name)) note(open, name, removal);
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
  if (seconds <= 0) {
    deleteStored(tx, collection, name);
    return;
  }
  const expiresAtMs = tx.ports.clock.nowMs() + 1000 * seconds;
  open.values.set(name, { value: old.value, expiresAtMs });
  note(open, name, changeOfExpiry(expiresAtMs));
}

/**
 * Saves what was changed; call once when the transaction ends, on every path. The collection is
 * forgotten TIMEOUT seconds later (SecCollectionTimeout) should nothing change it again.
 */
export function saveCollections(tx: Transaction): void {
  const store = tx.ports.collections;
  for (const [name, open] of tx.persistent) {
    if (!open.changed || !store) continue;
    const { key, values, changes } = open;
    changes.set('update_counter', joinChanges(changes.get('update_counter'), changeBy(1)));
    changes.set('last_update_time', changeTo(nowSeconds(tx)));
    const lifetime = Number.parseInt(values.get('timeout')?.value ?? '', 10);
    const seconds = lifetime > 0 ? lifetime : tx.settings.collectionTimeoutSeconds;
    const expiresAtMs = tx.ports.clock.nowMs() + 1000 * seconds;
    store.update(name, storageKey(tx, key), changes, expiresAtMs);
  }
}

function note(open: OpenCollection, name: string, change: StoredChange): void {
  open.changes.set(name, joinChanges(open.changes.get(name), change));
  open.changed = true;
}

/** SecWebAppId parts the collections of one application from those of others. */
function storageKey(tx: Transaction, key: ByteString): ByteString {
  return tx.webAppId === '' ? key : `${tx.webAppId}\u0000${key}`;
}

/** Updates a minute since the collection was made. */
function updateRate(tx: Transaction, values: ReadonlyMap<string, StoredText>): string {
  const count = (name: string): number => Number.parseInt(values.get(name)?.value ?? '', 10) || 0;
  const age = Number(nowSeconds(tx)) - count('create_time');
  return age <= 0 ? '0' : String(Math.floor((count('update_counter') * 60) / age));
}

function forever(value: ByteString): StoredText {
  return { value, expiresAtMs: 0 };
}

function nowSeconds(tx: Transaction): string {
  return String(Math.floor(tx.ports.clock.nowMs() / 1000));
}
