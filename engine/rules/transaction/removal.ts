/**
 * Whether `ctl` removals and target exclusions apply to a rule or a value while rules run. Never
 * changes anything.
 */

import type { ByteString } from '../../../base/byte-string.ts';
import { expandMacro, lowerBytes } from './macro.ts';
import type { RemovedTarget, Transaction } from './transaction.ts';
import type { Rule, Target } from './types.ts';

/**
 * True when `ctl` took the rule out of this transaction. Chain links go with their starter.
 * Source: libmodsecurity 3: ids by range, tags and messages by equality.
 */
export function isRuleRemoved(rule: Rule, tx: Transaction): boolean {
  const { removedIds, removedTags, removedMessages } = tx.control;
  for (const [from, to] of removedIds) if (rule.id >= from && rule.id <= to) return true;
  for (const tag of removedTags) if (hasTag(rule, tag, tx)) return true;
  for (const message of removedMessages) if (rule.message?.source === message) return true;
  return false;
}

/** True when one `ctl` took all rules out that have these ids. */
export function areRulesRemoved(first: number, last: number, tx: Transaction): boolean {
  const { removedIds } = tx.control;
  for (const [from, to] of removedIds) if (from <= first && to >= last) return true;
  return false;
}

/** Removals by `ctl` that concern this rule; usually none. */
export function removedTargetsOf(rule: Rule, tx: Transaction): readonly Target[] {
  const { removedTargets } = tx.control;
  // CRS removes a target in most transactions, for few rules: make a list only where it has one.
  let list: Target[] | null = null;
  for (let i = 0; i < removedTargets.length; i++) {
    const removed = removedTargets[i]!;
    if (concerns(removed, rule, tx)) (list ??= []).push(removed.target);
  }
  return list ?? noTargets;
}

const noTargets: readonly Target[] = [];

/** True when one of the exclusions covers the value with this key of `target`. */
export function isExcluded(
  exclusions: readonly Target[],
  target: Target,
  key: ByteString,
): boolean {
  for (const exclusion of exclusions) if (covers(exclusion, target, key)) return true;
  return false;
}

/**
 * True when one of the exclusions names what a count target counts (all of the variable, or the
 * same key): the target is then not looked at. Other exclusions do not change a count.
 */
export function isCountExcluded(exclusions: readonly Target[], target: Target): boolean {
  const { selector } = target;
  return exclusions.some((exclusion) => {
    if (exclusion.variable.name !== target.variable.name) return false;
    if (exclusion.selector === null) return true;
    return selector?.kind === 'key' && covers(exclusion, target, selector.key);
  });
}

/**
 * Keys compare without case; an XPath exclusion covers the same XPath. By name: `XML` has a
 * definition of its own for some XPaths. `ARGS:a.b` covers `ARGS_RENAMED:a_b`.
 */
function covers(exclusion: Target, target: Target, key: ByteString): boolean {
  const { name, renamed } = target.variable;
  const { selector, variable } = exclusion;
  if (variable.name !== name && variable.name !== renamed?.of) return false;
  if (selector === null) return true;
  if (selector.kind === 'regex') return selector.regex.test(key);
  if (selector.kind === 'key') {
    const wanted = renamed === undefined ? selector.key : renamed.read(selector.key);
    return wanted.length === key.length && lowerBytes(key) === wanted;
  }
  return target.selector?.kind === 'xpath' && target.selector.text === selector.text;
}

function concerns(removed: RemovedTarget, rule: Rule, tx: Transaction): boolean {
  if (removed.by === 'id') return rule.id >= removed.from && rule.id <= removed.to;
  if (removed.by === 'msg') return rule.message?.source === removed.text;
  return hasTag(rule, removed.text, tx);
}

function hasTag(rule: Rule, tag: ByteString, tx: Transaction): boolean {
  const { tags } = rule;
  for (let i = 0; i < tags.length; i++) {
    const own = tags[i]!;
    if ((own.literal ?? expandMacro(own, tx)) === tag) return true;
  }
  return false;
}
