/**
 * The order in which what waits for a pool thread is served: deficit round robin over sites, and
 * within a site over clients, so that no backlog of one delays the others by more than what is
 * being served. A flow that has just begun goes first, for one quantum. Source: Shreedhar and
 * Varghese, "Efficient Fair Queuing Using Deficit Round Robin"; RFC 8290 section 4.2.
 */

import { poolLimits } from '../base/limits.ts';

/** What waits, with its cost in bytes. */
export interface Queued {
  readonly cost: number;
  /** True for what must be served in the end: it is never dropped and does not count as length. */
  readonly kept: boolean;
}

/** One flow, or at the first level all of them: a queue of flows, or of items at the last level. */
class Flow<T extends Queued> {
  readonly key: string;
  /** Items below that count, and all of them. */
  length = 0;
  total = 0;
  /** Bytes that may be served before others have their turn; below zero after a large item. */
  credit: number = poolLimits.fairQuantumBytes;
  private items: T[] = [];
  private readonly flows = new Map<string, Flow<T>>();
  private fresh: Flow<T>[] = [];
  private turns: Flow<T>[] = [];

  constructor(key: string) {
    this.key = key;
  }

  push(item: T, path: readonly string[], level: number): void {
    this.total++;
    if (!item.kept) this.length++;
    if (level === path.length) return void this.items.push(item);
    const key = path[level]!;
    let flow = this.flows.get(key);
    if (flow === undefined) {
      flow = new Flow(key);
      this.flows.set(key, flow);
      this.fresh.push(flow);
    }
    flow.push(item, path, level + 1);
  }

  /** The item whose turn it is; call only where there is one. */
  peek(): T {
    return this.items.length > 0 ? this.items[0]! : this.next().peek();
  }

  /** Takes what `peek` names. */
  pop(): T {
    this.total--;
    if (this.items.length > 0) {
      const item = this.items.shift()!;
      if (!item.kept) this.length--;
      return item;
    }
    const flow = this.next();
    const item = flow.pop();
    flow.credit -= item.cost;
    if (!item.kept) this.length--;
    return item;
  }

  /** The flow whose turn it is. Flows in debt wait until it is worked off, empty ones too. */
  private next(): Flow<T> {
    for (;;) {
      const list = this.fresh.length > 0 ? this.fresh : this.turns;
      const flow = list[0]!;
      if (flow.total > 0 && flow.credit > 0) return flow;
      list.shift();
      if (flow.total === 0 && flow.credit > 0) this.flows.delete(flow.key);
      else {
        flow.credit += poolLimits.fairQuantumBytes;
        this.turns.push(flow);
      }
    }
  }

  /** Takes the newest item that counts out of the longest flow; null where there is none. */
  dropLongest(): T | null {
    if (this.length === 0) return null;
    let dropped: T | null = null;
    if (this.items.length > 0) {
      const at = this.items.findLastIndex((item) => !item.kept);
      dropped = this.items.splice(at, 1)[0]!;
    } else {
      let longest: Flow<T> | null = null;
      for (const flow of this.flows.values()) {
        if (longest === null || flow.length > longest.length) longest = flow;
      }
      dropped = longest!.dropLongest();
    }
    this.total--;
    this.length--;
    return dropped;
  }

  /** Takes out every item that `gone` says yes to. */
  remove(gone: (item: T) => boolean): void {
    if (this.items.length > 0) this.items = this.items.filter((item) => !gone(item));
    this.total = this.items.length;
    this.length = this.items.reduce((sum, { kept }) => sum + (kept ? 0 : 1), 0);
    for (const flow of this.flows.values()) {
      flow.remove(gone);
      this.total += flow.total;
      this.length += flow.length;
    }
  }

  each(visit: (item: T) => void): void {
    for (const item of this.items) visit(item);
    for (const flow of this.flows.values()) flow.each(visit);
  }
}

/** A queue that is fair to the flows that items belong to; see the header. */
export class FairQueue<T extends Queued> {
  private root = new Flow<T>('');
  private readonly lengthMax: number;

  constructor(lengthMax: number) {
    this.lengthMax = lengthMax;
  }

  /** All items. */
  get size(): number {
    return this.root.total;
  }

  /**
   * Queues an item of the flow that `path` names, from the outermost level in; all paths have one
   * length. Shape: the item that is dropped for it when the queue is full: the newest one of the
   * longest flow, perhaps itself; null otherwise.
   */
  push(item: T, path: readonly string[]): T | null {
    // Debts end with the backlog in which they were made.
    if (this.root.total === 0) this.root = new Flow('');
    this.root.push(item, path, 0);
    return this.root.length > this.lengthMax ? this.root.dropLongest() : null;
  }

  /** The item whose turn it is; null when nothing waits. */
  peek(): T | null {
    return this.root.total === 0 ? null : this.root.peek();
  }

  /** Takes what `peek` names. */
  pop(): T | null {
    return this.root.total === 0 ? null : this.root.pop();
  }

  /** Takes out every item that `gone` says yes to. */
  remove(gone: (item: T) => boolean): void {
    this.root.remove(gone);
  }

  /** Visits every item, in no order. */
  each(visit: (item: T) => void): void {
    this.root.each(visit);
  }
}
