/**
 * Counts security events for alerts, before anything is sampled: each request under one key of
 * outcome, severity, families of attacks and rules. A flood of combinations costs detail, never a
 * count: keys give up their rules, then their families, and are marked.
 */

import { writeAlertKey } from '../../../base/alert-key.ts';
import { countLimits } from '../../base/observation-limits.ts';
import type { RequestEvent } from '../../contract/events.ts';
import type { MatchedRule } from '../../contract/verdict.ts';

const attackTag = 'attack-';

/** Counts a security event. Cost: one short string. */
export function countForAlerts(counts: Map<string | number, number>, event: RequestEvent): void {
  const key = keyOf(event, 0);
  const known = counts.get(key);
  if (known !== undefined) {
    counts.set(key, known + 1);
    return;
  }
  const { alertKeysMax, alertCoarseKeysMax } = countLimits;
  const detail = counts.size < alertKeysMax ? 0 : counts.size < alertCoarseKeysMax ? 1 : 2;
  const coarse = detail === 0 ? key : keyOf(event, detail);
  counts.set(coarse, (counts.get(coarse) ?? 0) + 1);
}

/** `givesUp`: 1 the rules, 2 the families of attacks as well. */
function keyOf(event: RequestEvent, givesUp: 0 | 1 | 2): string {
  const { transaction, outcome, blocked, refusal, guards } = event;
  const rules = transaction?.matchedRules ?? [];
  let worst = -1;
  const ids: string[] = [];
  const attacks: string[] = [];
  for (const rule of rules) {
    if (!rule.log) continue;
    const { severity } = rule;
    if (severity >= 0 && (worst < 0 || severity < worst)) worst = severity;
    ids.push(String(rule.ruleId));
    addAttacks(attacks, rule);
  }
  // As security events name what the front refused by itself.
  if (attacks.length === 0 && refusal !== null && guards === undefined) attacks.push('protocol');
  const tooMany = ids.length > countLimits.alertRulesMax;
  return writeAlertKey({
    blocked: blocked || outcome === 'refused',
    severity: worst > 7 ? 7 : worst,
    attackTypes: givesUp === 2 ? null : attacks.sort(),
    ruleIds: givesUp > 0 || tooMany ? null : unique(ids.sort()),
  });
}

function addAttacks(attacks: string[], { tags }: MatchedRule): void {
  for (const type of attackTypesOf(tags)) if (!attacks.includes(type)) attacks.push(type);
}

/** Records of a rule whose tags are fixed share one list of them: it is read once. */
const attackTypes = new WeakMap<MatchedRule['tags'], readonly string[]>();

function attackTypesOf(tags: MatchedRule['tags']): readonly string[] {
  const known = attackTypes.get(tags);
  if (known !== undefined) return known;
  const types = tags
    .filter((tag) => tag.startsWith(attackTag))
    .map((tag) => tag.slice(attackTag.length))
    .filter((type) => /^[a-z0-9-]{1,64}$/.test(type));
  attackTypes.set(tags, types);
  return types;
}

function unique(sorted: readonly string[]): string[] {
  return sorted.filter((one, at) => one !== sorted[at - 1]);
}
