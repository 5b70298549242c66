/**
 * The TX collection. Names are case-insensitive, values are byte strings. A plan computes the state
 * after its constant rules once (`base`); a transaction only holds what differs from it. Writes of
 * memoized rules may be deferred: one name is read as if they were applied, and they are before any
 * other access that could show a difference, so that no caller has to know.
 */

import type { ByteString } from '../../../base/byte-string.ts';
import { ruleRunLimits } from '../../../base/rule-limits.ts';
import type { Entry } from './values.ts';

const emptyBase: ReadonlyMap<string, ByteString> = new Map();

/** Writes of memoized rules that are not applied yet. */
export interface DeferredTx {
  /** Names that these writes set or remove. */
  readonly written: ReadonlySet<string>;
  /** `written`, and the names that the memoized rules read. */
  readonly used: ReadonlySet<string>;
  /** The value of one of `written`, as the writes so far leave it. */
  read(name: string): ByteString | undefined;
  /** Calls `settle` of the collection, then applies the writes. */
  materialize(): void;
}

/** The TX collection: a base shared by all transactions, and what this one changed. */
export class TxCollection {
  private base: ReadonlyMap<string, ByteString> = emptyBase;
  /** null marks a name that `base` has and this transaction removed. */
  private own = new Map<string, ByteString | null>();
  /** Names of `base` that were removed and set again: they come last, like new ones. */
  private again = new Set<string>();
  private deferred: DeferredTx | null = null;

  /** Starts over from `base`; cost does not depend on its size. */
  reset(base: ReadonlyMap<string, ByteString> = emptyBase): void {
    this.base = base;
    this.deferred = null;
    // New ones: a map that is cleared would tie the values of all requests together (`Places`).
    if (this.own.size > 0) this.own = new Map();
    if (this.again.size > 0) this.again = new Set();
  }

  /** Has `deferred` materialized before the first access that depends on it. */
  defer(deferred: DeferredTx): void {
    this.deferred = deferred;
  }

  /** Ends the deferral: replaces the base below what this transaction changed, which stays. */
  settle(base: ReadonlyMap<string, ByteString>): void {
    this.deferred = null;
    this.base = base;
  }

  /** `name` in lower case. */
  get(name: string): ByteString | undefined {
    // Nothing else has set it: that would have ended the deferral.
    if (this.deferred !== null && this.deferred.written.has(name)) return this.deferred.read(name);
    if (this.own.size > 0) {
      const own = this.own.get(name);
      if (own !== undefined) return own ?? undefined;
    }
    return this.base.get(name);
  }

  set(name: string, value: ByteString): void {
    if (this.deferred !== null && this.deferred.used.has(name)) this.deferred.materialize();
    if (this.own.get(name) === null) {
      this.own.delete(name);
      this.again.add(name);
    }
    this.own.set(name, value);
  }

  delete(name: string): void {
    if (this.deferred !== null && this.deferred.used.has(name)) this.deferred.materialize();
    if (this.base.has(name)) this.own.set(name, null);
    else this.own.delete(name);
  }

  /** How many names this transaction has set or removed; for bounds. */
  get changes(): number {
    return this.own.size;
  }

  /** All names and values in the order in which they were set first. */
  entries(): Entry[] {
    this.deferred?.materialize();
    const list: Entry[] = [];
    for (const key of this.base.keys()) this.addOfBase(list, key);
    for (const [key, value] of this.own) {
      if (value !== null && this.isNew(key)) list.push({ key, value });
    }
    return list;
  }

  private addOfBase(list: Entry[], key: string): void {
    const value = this.get(key);
    if (value !== undefined && !this.again.has(key)) list.push({ key, value });
  }

  private isNew(key: string): boolean {
    return !this.base.has(key) || this.again.has(key);
  }

  /**
   * Entries whose name `regex` finds, in the order of `entries`. Which names of the base those are
   * is worked out once per base and regex.
   */
  matching(regex: { test(name: ByteString): boolean }): Entry[] {
    const { deferred } = this;
    if (deferred !== null && namesFound(deferred.written, regex).length > 0) deferred.materialize();
    const list: Entry[] = [];
    for (const key of namesFound(this.base, regex)) this.addOfBase(list, key);
    for (const [key, value] of this.own) {
      if (value === null || !this.isNew(key) || !findsName(regex, key)) continue;
      list.push({ key, value });
    }
    return list;
  }

  /** A copy as a plain map; for the planner and for comparing engines. */
  snapshot(): Map<string, ByteString> {
    return new Map(this.entries().map((entry) => [entry.key, entry.value]));
  }
}

interface Names {
  keys(): IterableIterator<string>;
}

const namesByList = new WeakMap<Names, WeakMap<object, string[]>>();

/** Names of a list that never changes which `regex` finds; remembered for both. */
function namesFound(list: Names, regex: { test(name: ByteString): boolean }): readonly string[] {
  let byRegex = namesByList.get(list);
  if (!byRegex) namesByList.set(list, (byRegex = new WeakMap()));
  let names = byRegex.get(regex);
  if (!names) byRegex.set(regex, (names = [...list.keys()].filter((name) => regex.test(name))));
  return names;
}

const answersByRegex = new WeakMap<object, Map<string, boolean>>();

/** As `regex.test`, remembered: rules make the same names in every transaction. */
function findsName(regex: { test(name: ByteString): boolean }, name: string): boolean {
  let answers = answersByRegex.get(regex);
  if (!answers) answersByRegex.set(regex, (answers = new Map()));
  let answer = answers.get(name);
  if (answer === undefined) {
    if (answers.size >= ruleRunLimits.rememberedNamesMax) answers.clear();
    answers.set(name, (answer = regex.test(name)));
  }
  return answer;
}
