/**
 * Owns the TX collection: names are case-insensitive, values are byte strings. A plan computes the
 * state after its constant rules once (`base`); a transaction only holds what differs from it.
 */

import type { ByteString } from '../../base/byte-string.ts';
import { ruleRunLimits } from '../../base/limits.ts';
import type { Entry } from './values.ts';

const emptyBase: ReadonlyMap<string, ByteString> = new Map();

/** The TX collection: a base shared by all transactions, and what this one changed. */
export class TxCollection {
  private base: ReadonlyMap<string, ByteString> = emptyBase;
  /** null marks a name that `base` has and this transaction removed. */
  private readonly own = new Map<string, ByteString | null>();
  /** Names of `base` that were removed and set again: they come last, like new ones. */
  private readonly again = new Set<string>();

  /** Starts over from `base`; cost does not depend on its size. */
  reset(base: ReadonlyMap<string, ByteString> = emptyBase): void {
    this.base = base;
    if (this.own.size > 0) this.own.clear();
    if (this.again.size > 0) this.again.clear();
  }

  /** Puts another base below what this transaction changed, which stays. */
  rebase(base: ReadonlyMap<string, ByteString>): void {
    this.base = base;
  }

  /** `name` in lower case. */
  get(name: string): ByteString | undefined {
    if (this.own.size > 0) {
      const own = this.own.get(name);
      if (own !== undefined) return own ?? undefined;
    }
    return this.base.get(name);
  }

  set(name: string, value: ByteString): void {
    if (this.own.get(name) === null) {
      this.own.delete(name);
      this.again.add(name);
    }
    this.own.set(name, value);
  }

  delete(name: string): void {
    if (this.base.has(name)) this.own.set(name, null);
    else this.own.delete(name);
  }

  /** How many names this transaction has set or removed; for bounds. */
  get changes(): number {
    return this.own.size;
  }

  /** All names and values in the order in which they were set first. */
  entries(): Entry[] {
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
    const list: Entry[] = [];
    for (const key of baseNames(this.base, regex)) this.addOfBase(list, key);
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

const namesByBase = new WeakMap<ReadonlyMap<string, ByteString>, WeakMap<object, string[]>>();

function baseNames(
  base: ReadonlyMap<string, ByteString>,
  regex: { test(name: ByteString): boolean },
): readonly string[] {
  let byRegex = namesByBase.get(base);
  if (!byRegex) namesByBase.set(base, (byRegex = new WeakMap()));
  let names = byRegex.get(regex);
  if (!names) byRegex.set(regex, (names = [...base.keys()].filter((name) => regex.test(name))));
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
