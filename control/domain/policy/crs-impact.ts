/** Compares two rulesets for one policy: rules that come, go or change. Pure. */

import type { CrsRuleChangeJson } from '../../../proto/gen/waf/v1/policy_pb.ts';
import type { DescribedRule, RuleLink } from './crs-rules.ts';

/** What a move to another ruleset changes. */
export interface RulesetImpact {
  readonly addedRuleIds: readonly number[];
  readonly removedRuleIds: readonly number[];
  readonly changedRules: readonly CrsRuleChangeJson[];
}

const changesMax = 2_000;
const valueCharactersMax = 2_000;

/** Fields that are compared, and how each reads. */
const compared: readonly (readonly [field: string, read: (rule: DescribedRule) => string])[] = [
  ['phase', (rule) => String(rule.phase)],
  ['targets', (rule) => links(rule, ({ targets }) => targets.join('|'))],
  ['condition', (rule) => links(rule, ({ operator }) => operator)],
  ['transforms', (rule) => links(rule, ({ transforms }) => transforms.join(','))],
  ['score', (rule) => rule.scoreExpression ?? ''],
  ['action', (rule) => rule.defaultAction ?? ''],
  ['severity', (rule) => rule.severity ?? ''],
  ['paranoia', (rule) => String(rule.paranoiaLevel ?? 0)],
];

function links(rule: DescribedRule, read: (link: RuleLink) => string): string {
  return rule.links.map(read).join(' and ');
}

/** Compares rules by number. Cost: linear in both rulesets. */
export function compareRulesets(
  from: readonly DescribedRule[],
  to: readonly DescribedRule[],
): RulesetImpact {
  const before = new Map(from.map((rule) => [rule.ruleId, rule]));
  const after = new Map(to.map((rule) => [rule.ruleId, rule]));
  const ascending = (left: number, right: number): number => left - right;
  const moved = movedRules(before, after);
  const changedRules = [...after].flatMap(([ruleId, rule]) => {
    const old = before.get(ruleId);
    if (old === undefined) return [];
    const changes = compared.flatMap(([field, read]) => {
      const [left, right] = [read(old), read(rule)];
      return left === right ? [] : [{ field, before: cut(left), after: cut(right) }];
    });
    const place = moved.get(ruleId);
    if (place !== undefined) changes.push({ field: 'order', ...place });
    const [left, right] = [sourceOf(old), sourceOf(rule)];
    if (left !== right)
      changes.push({ field: 'source', before: cut(old.raw), after: cut(rule.raw) });
    return changes.length === 0 ? [] : [{ ruleId, changes }];
  });
  return {
    addedRuleIds: [...after.keys()].filter((id) => !before.has(id)).sort(ascending),
    removedRuleIds: [...before.keys()].filter((id) => !after.has(id)).sort(ascending),
    changedRules: changedRules.slice(0, changesMax),
  };
}

/** A rule's text without what every release changes: layout and version. */
function sourceOf({ raw }: DescribedRule): string {
  return raw
    .replace(/\\\r?\n/g, ' ')
    .replace(/\bver:'[^']*',?/g, '')
    .replace(/\s+/g, ' ');
}

/**
 * Rules that run at another place among those that both rulesets have, phase by phase, with the
 * rule before them. A rule around which others came and went has not moved.
 */
function movedRules(
  before: ReadonlyMap<number, DescribedRule>,
  after: ReadonlyMap<number, DescribedRule>,
): Map<number, { before: string; after: string }> {
  const moved = new Map<number, { before: string; after: string }>();
  const stays = ({ ruleId, phase }: DescribedRule): boolean =>
    before.get(ruleId)?.phase === phase && after.get(ruleId)?.phase === phase;
  for (const phase of [1, 2, 3, 4, 5]) {
    const ids = (rules: ReadonlyMap<number, DescribedRule>): number[] =>
      [...rules.values()]
        .filter((rule) => rule.phase === phase && stays(rule))
        .sort((left, right) => left.place - right.place)
        .map(({ ruleId }) => ruleId);
    const [left, right] = [ids(before), ids(after)];
    const rank = new Map(left.map((id, at) => [id, at]));
    const kept = longestAscending(right.map((id) => rank.get(id) ?? 0));
    right.forEach((id, at) => {
      const from = rank.get(id) ?? 0;
      if (kept.has(from)) return;
      moved.set(id, { before: placeText(left[from - 1]), after: placeText(right[at - 1]) });
    });
  }
  return moved;
}

function placeText(previous: number | undefined): string {
  return previous === undefined ? 'first of its phase' : `after rule ${previous}`;
}

/** The values of a longest ascending subsequence. Cost: n log n. */
function longestAscending(values: readonly number[]): Set<number> {
  const tails: number[] = [];
  const previous = new Map<number, number | undefined>();
  for (const value of values) {
    let low = 0;
    for (let high = tails.length; low < high;) {
      const middle = (low + high) >> 1;
      if ((tails[middle] ?? 0) < value) low = middle + 1;
      else high = middle;
    }
    previous.set(value, tails[low - 1]);
    tails[low] = value;
  }
  const found = new Set<number>();
  for (let at = tails.at(-1); at !== undefined; at = previous.get(at)) found.add(at);
  return found;
}

/** Long targets and patterns are cut; the rule itself shows them whole. */
function cut(text: string): string {
  return text.slice(0, valueCharactersMax);
}
