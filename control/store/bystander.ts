/** Notices that others wrote what a transaction in slices has looked at. Never stops them. */

import type { Collection } from './collection.ts';
import type { Identified, WriteStore } from './interface.ts';
import type { KvReader } from './kv.ts';
import { reading } from './reading.ts';
import type { Changes } from './record-cache.ts';

type Named = Collection<Identified>;

/** What one transaction looked at, and what others changed since it began. */
export class Bystander {
  private readonly kv: KvReader;
  private readonly touched = new Set<string>();
  private readonly changed = new Set<string>();
  private readonly head: string;
  private audits = false;

  constructor(kv: KvReader) {
    this.kv = kv;
    this.head = this.auditHead();
  }

  /** Others changed something. */
  note({ ids }: Changes): void {
    for (const name of ids.keys()) this.changed.add(name);
  }

  /** Whether the transaction was made from what is no longer so. */
  isStale(): boolean {
    // Rows of the audit chain name the one before.
    if (this.audits && this.auditHead() !== this.head) return true;
    return [...this.changed].some((name) => this.touched.has(name));
  }

  /** The same store; what is looked at through it is remembered. */
  watched(store: WriteStore): WriteStore {
    const seen = <T extends { readonly name: string }>(collection: T): T => {
      this.touched.add(collection.name);
      return collection;
    };
    return {
      ...store,
      get: (collection, id) => store.get(seen(collection), id),
      list: (collection) => store.list(seen(collection)),
      find: (collection, index, value) => store.find(seen(collection), index, value),
      walk: (collection, range) => store.walk(seen(collection), range),
      walkIndex: (collection, index, range) => store.walkIndex(seen(collection), index, range),
      count: (collection, index, value) => store.count(seen(collection as Named), index, value),
      put: (collection, record) => store.put(seen(collection), record),
      remove: (collection, id) => store.remove(seen(collection), id),
      audit: (note) => {
        this.audits = true;
        store.audit(note);
      },
      next: () => {
        throw new Error('a transaction in slices cannot count: others would wait for it');
      },
    };
  }

  private auditHead(): string {
    return reading(this.kv).auditHead()?.hash ?? '';
  }
}
