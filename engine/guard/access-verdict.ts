/**
 * What rules of access lead to, for lists and countries alike: the first that allows or denies
 * decides, those that monitor only show. Verdicts are made once, when rules are compiled.
 */

import type { AccessChoice } from '../contract/access.ts';
import type { GuardName, GuardSkip, GuardVerdict } from '../contract/guard.ts';

/** A rule with its verdict. */
export interface CompiledRule<T extends AccessChoice> {
  readonly rule: T;
  /** Null for an `allow` that skips nothing: it decides, and there is nothing to record. */
  readonly verdict: GuardVerdict | null;
}

/** What a rule leads to on addresses that meet it; `skips`: what its bypass skips. */
export function verdictOf(
  guard: GuardName & ('ip' | 'country'),
  rule: AccessChoice,
  skips: readonly GuardSkip[],
  detail: string,
): GuardVerdict | null {
  const { id: ruleId, kind } = rule;
  const named = { guard, ruleId, detail, scenario: null, status: 0 } as const;
  if (kind === 'monitor') return { ...named, action: 'monitor', reason: `${guard}_monitor` };
  if (kind === 'allow') {
    if (skips.length === 0) return null;
    return { ...named, action: 'bypass', reason: `${guard}_allow`, skips };
  }
  const reason = guard === 'ip' ? 'ip_deny' : 'country_deny';
  return { ...named, action: 'deny', reason, status: 403, scenario: reason };
}

/** The verdict of the rules that are met, asked in order; null when there is nothing to say. */
export function firstDecision<T extends AccessChoice>(
  rules: readonly CompiledRule<T>[],
  isMet: (rule: T) => boolean,
): GuardVerdict | null {
  let monitored: GuardVerdict[] | null = null;
  for (const { rule, verdict } of rules) {
    if (!isMet(rule)) continue;
    if (rule.kind !== 'monitor') return withEarlier(verdict, monitored);
    if (verdict !== null) (monitored ??= []).push(verdict);
  }
  return withEarlier(null, monitored);
}

function withEarlier(
  verdict: GuardVerdict | null,
  monitored: GuardVerdict[] | null,
): GuardVerdict | null {
  if (monitored === null) return verdict;
  const last = verdict ?? monitored.pop()!;
  return monitored.length === 0 ? last : { ...last, earlier: monitored };
}
