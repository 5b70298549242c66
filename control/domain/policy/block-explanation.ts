/**
 * Explains what rules decided about a request: the exclusions that would have let it through, the
 * narrowest first, as overrides that can be added as they are. Names in them come from the request:
 * only what can stand for nothing but itself is taken over. Pure.
 */

import type { SecurityEventJson, SecurityMessageJson } from '../../../proto/gen/waf/v1/log_pb.ts';
import type { PolicyJson } from '../../../proto/gen/waf/v1/policy_pb.ts';
import type { RuleOverrideJson } from '../../../proto/gen/waf/v1/rule_override_pb.ts';
import { AppError } from '../../../base/errors.ts';
import type { DescribedRule } from './crs-rules.ts';
import { applicationNotes, type SentNames } from './application-notes.ts';
import { scoreRuleId, toldScore } from './detectors.ts';
import { isEvaluationRule } from './evaluation-rules.ts';
import { isLimitRule, limitNotes } from './limit-notes.ts';
import { ownRuleNote } from './own-rule-notes.ts';
import { normalScope, refuseUnmatchable, refuseUnread } from './rule-override-change.ts';
import { checkOverride } from './rule-overrides.ts';
import { settingNote, settingOfRule } from './setting-notes.ts';

/** How far an exclusion reaches, the narrowest first. */
export const exclusionReaches = [
  'site_path_target',
  'site_target',
  'policy_target',
  'site_path_rule',
  'site_rule',
] as const;
/** One of them. */
export type ExclusionReach = (typeof exclusionReaches)[number];

/** Overrides that together would have let a request through. */
export interface SuggestedExclusions {
  readonly reach: ExclusionReach;
  readonly summary: string;
  readonly overrides: readonly RuleOverrideJson[];
}

/** What is known around an event. */
export interface EventSurroundings {
  /** The policy of the event's site; '' when there is none. */
  readonly policyId: string;
  /** That policy, whose limits an event may have met. */
  readonly policy?: PolicyJson | undefined;
  /** A rule of the policy's ruleset. */
  readonly ruleOf: (ruleId: number) => DescribedRule | undefined;
  /** True for the number of a custom rule of the policy. */
  readonly isCustom: (ruleId: string) => boolean;
  /** What the request sent, by name; absent where no evidence of it is kept. */
  readonly sent?: SentNames;
}

/** The exclusions, and what none of them changes. */
export interface BlockExplanation {
  readonly policyId: string;
  readonly exclusions: readonly SuggestedExclusions[];
  readonly notes: readonly string[];
}

/** A rule of the ruleset that decided, or helped to. */
interface Culprit {
  readonly message: SecurityMessageJson;
  /** What it matched, as an override names it; empty where that cannot be named. */
  readonly targets: readonly string[];
  /** False where a target is wider than what matched. */
  readonly exact: boolean;
}

/** The exclusions for an event. Where no rule of the ruleset decided, the notes say why not. */
export function explainBlock(
  event: SecurityEventJson,
  around: EventSurroundings,
): BlockExplanation {
  const { policyId } = around;
  const limits = limitNotes(event, around.policy, around.sent?.bodyBytes);
  const notes = [
    ...notesOnEvent(event),
    ...limits,
    ...applicationNotes(event, around.policy, around.sent),
    ...(policyId === '' ? [noPolicy] : []),
  ];
  const culprits: Culprit[] = [];
  for (const message of decisive(event.messages ?? [])) {
    const { ruleId = '' } = message;
    const rule = around.ruleOf(Number(ruleId));
    if (around.isCustom(ruleId)) {
      notes.push(`Rule ${ruleId} is a custom rule: change it with waf rule update.`);
    } else if (rule === undefined && ownRuleNote(Number(ruleId)) !== null) {
      // What its limit is set to stands among the notes already.
      if (!isLimitRule(ruleId) || limits.length === 0) notes.push(ownRuleNote(Number(ruleId))!);
    } else if (rule === undefined) {
      notes.push(`Rule ${ruleId} is not part of the policy's ruleset now.`);
    } else if (settingOfRule(ruleId) !== null) {
      notes.push(settingNote(event, message, around.policy));
    } else {
      const found = targetsOf(message, rule);
      const { targets } = found;
      if (targets.length === 0) notes.push(`What rule ${ruleId} matched cannot be left out alone.`);
      if (message.matchValueTruncated === true) {
        notes.push(`Rule ${ruleId} matched more than was kept; try the exclusion by replay.`);
      }
      culprits.push({ message, ...found });
    }
  }
  if (policyId === '' || culprits.length === 0) return { policyId, exclusions: [], notes };
  const scope = scopeOf(event.path ?? '');
  if (scope === '') notes.push('The path of the request cannot limit an exclusion.');
  const place = { policyId, siteId: event.siteId ?? '', scope };
  const exclusions = exclusionReaches.flatMap((reach) => suggestion(reach, culprits, place));
  return { policyId, exclusions, notes };
}

const noPolicy = 'No site with a policy serves this host now: nothing can be excluded.';

/** What decided without rules, and what is not known of those that matched. */
function notesOnEvent({ raw, detailAvailable, messages = [] }: SecurityEventJson): string[] {
  const notes: string[] = [];
  const guards = raw?.['guards'];
  for (const guard of Array.isArray(guards) ? guards : []) {
    if (typeof guard !== 'object' || guard === null || Array.isArray(guard)) continue;
    const { guard: name, action } = guard;
    if (typeof name !== 'string' || action === 'bypass' || action === 'monitor') continue;
    notes.push(`The guard ${name} decided: no exclusion of a rule changes that.`);
  }
  const { refusal } = raw ?? {};
  if (typeof refusal === 'string' && refusal !== '' && messages.length === 0) {
    notes.push(`The request was refused before any rule decided (${refusal}).`);
  }
  const { failure } = raw ?? {};
  if (typeof failure === 'string' && failure !== '') {
    notes.push(`Inspection failed (${failure}): the fail policy of the site decided.`);
  }
  if (detailAvailable !== true && messages.length > 0) {
    notes.push('Only the compact fact was kept: what the rules matched is not known.');
  }
  const dropped = raw?.['matchesDropped'];
  if (typeof dropped === 'number' && dropped > 0) {
    notes.push(`${dropped} more rules matched than were kept.`);
  }
  return notes;
}

/** Rules that added to a score, or blocked by themselves; not those that only compare scores. */
function decisive(messages: readonly SecurityMessageJson[]): SecurityMessageJson[] {
  const others = messages.filter((one) => one.disruptive === true && !isEvaluation(one));
  const scored = messages.filter(({ scoreContribution = 0 }) => scoreContribution > 0);
  const told = toldScore(messages);
  if (told?.reached === true) {
    const pointed = messages.filter(({ ruleId = '' }) => told.ruleIds.has(ruleId));
    return [...new Set([...pointed, ...(told.decision === 'both' ? scored : []), ...others])];
  }
  if (scored.length > 0) return [...new Set([...scored, ...others])];
  return messages.filter((one) => !isEvaluation(one) && (one.disruptive === true || isScored(one)));
}

/** Leaving one out would turn blocking off. */
function isEvaluation({ ruleId = '' }: SecurityMessageJson): boolean {
  return ruleId === scoreRuleId || isEvaluationRule(Number(ruleId));
}

/** Nodes of earlier versions state no scores; in CRS the severity stands for one. */
function isScored({ severity = '' }: SecurityMessageJson): boolean {
  return ['critical', 'error', 'warning', 'notice'].includes(severity);
}

/** Keys that stand for themselves in SecLang, in a list of targets and in `ctl`. */
const plainKey = /^[\w.$[\]-]{1,128}$/;

/** What the first link of the rule matched, as targets; [] where one of them cannot be named. */
function targetsOf(
  { matchedValues = [] }: SecurityMessageJson,
  { targets: read = [] }: DescribedRule,
): Pick<Culprit, 'targets' | 'exact'> {
  const targets = new Set<string>();
  let exact = true;
  for (const { variable = '', key = '' } of matchedValues) {
    if (!/^[A-Z][A-Z0-9_]{1,63}$/.test(variable)) return { targets: [], exact };
    const named = plainKey.test(key) ? `${variable}:${key}` : variable;
    // Later links match what the first link does not read.
    if (!isReadBy(named, read)) continue;
    targets.add(named);
    if (named === variable && key !== '') exact = false;
  }
  return { targets: [...targets], exact };
}

function isReadBy(target: string, read: readonly string[]): boolean {
  return accepted(() => refuseUnread({ removedTargets: [target] }, read, 'override'));
}

/** The path as a scope of overrides; '' where it cannot be one, or would be every path. */
function scopeOf(path: string): string {
  const scope = normalScope(path);
  const fits = accepted(() => {
    const actionEnum = 'RULE_OVERRIDE_ACTION_DISABLE';
    checkOverride({ crsRuleId: '1', actionEnum, scope });
    refuseUnmatchable(scope, 'override.scope');
  });
  return fits ? scope : '';
}

function accepted(check: () => void): boolean {
  try {
    check();
    return true;
  } catch (error) {
    if (error instanceof AppError) return false;
    throw error;
  }
}

interface Place {
  readonly policyId: string;
  readonly siteId: string;
  readonly scope: string;
}

/** The suggestion of one reach; none where it would be the same as another one. */
function suggestion(
  reach: ExclusionReach,
  culprits: readonly Culprit[],
  { policyId, siteId, scope }: Place,
): SuggestedExclusions[] {
  const byPath = reach === 'site_path_target' || reach === 'site_path_rule';
  if (byPath && scope === '') return [];
  const byTarget = reach.endsWith('_target');
  if (byTarget && culprits.every(({ targets }) => targets.length === 0)) return [];
  const site = reach === 'policy_target' ? '' : siteId;
  const overrides = culprits.map(({ message, targets, exact }): RuleOverrideJson => {
    // What cannot be named exactly is left out as narrowly as the path allows.
    const limited = byPath || (byTarget && (!exact || targets.length === 0));
    const { ruleId: crsRuleId = '' } = message;
    const rest = { policyId, siteId: site, crsRuleId, scope: limited ? scope : '' };
    if (!byTarget || targets.length === 0) {
      return { ...rest, actionEnum: 'RULE_OVERRIDE_ACTION_DISABLE' };
    }
    const removedTargets = [...targets];
    return { ...rest, removedTargets, actionEnum: 'RULE_OVERRIDE_ACTION_DEFAULT' };
  });
  return [{ reach, summary: summaryOf(overrides, reach), overrides }];
}

function summaryOf(overrides: readonly RuleOverrideJson[], reach: ExclusionReach): string {
  const parts = overrides.map(({ crsRuleId = '', removedTargets = [] }) =>
    removedTargets.length === 0
      ? `rule ${crsRuleId} off`
      : `rule ${crsRuleId} without ${removedTargets.join(', ')}`,
  );
  const scopes = [...new Set(overrides.map(({ scope = '' }) => scope))].filter((one) => one !== '');
  const paths = scopes.length === 0 ? 'on every path' : `under ${scopes.join(', ')}`;
  const sites = reach === 'policy_target' ? 'on every site of the policy' : 'on this site';
  return `${parts.join('; ')}, ${paths}, ${sites}`;
}
