/**
 * Overrides of single CRS rules: what they may say and the SecLang they become. A score is taken
 * away by setting the same variable by the opposite amount in the same link of the chain.
 */

import {
  RuleOverrideSchema,
  type RuleOverrideJson,
} from '../../../proto/gen/waf/v1/rule_override_pb.ts';
import { encodeUtf8 } from '../../../base/byte-string.ts';
import { parseSecLang } from '../../../engine/rules/language/parse.ts';
import { invalidField } from '../errors.ts';
import { checkBounds } from '../proto-bounds.ts';
import { isDetector } from './detectors.ts';
import { evaluationInRanges } from './evaluation-rules.ts';
import { checkPathPrefix, pathTransformations, underPaths } from './exclusion-plugins.ts';
import { isOpenOwnRule } from './own-rule-notes.ts';
import { refuseUnmatchable } from './rule-override-change.ts';

/** A target as overrides name it. */
export const ruleTarget =
  /^&?[A-Z][A-Z0-9_]{1,63}(?::(?:\/[^"\s\\/]{1,128}\/|[^"\s,|'/]{1,128}))?$/;
const tagPattern = /^[\w./:-]{1,128}$/;
/** Ids of the rules that scoped overrides become. */
const scopedRules = 197_000;

/** SecLang before and after the ruleset. */
export interface RenderedOverrides {
  readonly beforeCrs: string;
  readonly afterCrs: string;
}

/** Errors: invalid_argument naming the field under `at`. */
export function checkOverride(override: RuleOverrideJson, at = 'override'): void {
  checkBounds(RuleOverrideSchema, override, at);
  if (!/^[1-9]\d{0,8}$/.test(override.crsRuleId ?? '')) {
    throw invalidField(`${at}.crsRuleId`, 'must be the number of a rule');
  }
  const action = override.actionEnum ?? 'RULE_OVERRIDE_ACTION_UNSPECIFIED';
  if (action === 'RULE_OVERRIDE_ACTION_UNSPECIFIED') {
    throw invalidField(`${at}.actionEnum`, 'is required');
  }
  const score = override.scoreOverride;
  if (action === 'RULE_OVERRIDE_ACTION_SCORE_OVERRIDE' && score === undefined) {
    throw invalidField(`${at}.scoreOverride`, 'is required for this action');
  }
  const ruleId = Number(override.crsRuleId);
  if ((isDetector(ruleId) || isOpenOwnRule(ruleId)) && !onlyTakesAway(override)) {
    const why = isDetector(ruleId)
      ? 'a detector can be disabled or leave targets out: it adds no points to the anomaly score'
      : "a rule of the product's own can be disabled or leave targets out";
    throw invalidField(`${at}.actionEnum`, why);
  }
  each(override.removedTargets, `${at}.removedTargets`, ruleTarget, 'a target such as ARGS:name');
  each(override.addedTargets, `${at}.addedTargets`, ruleTarget, 'a target such as ARGS:name');
  each(override.tags, `${at}.tags`, tagPattern, 'a tag');
  const scope = override.scope ?? '';
  checkPathPrefix(scope, `${at}.scope`);
  refuseUnmatchable(scope, `${at}.scope`);
  const counts = (override.removedTargets ?? []).findIndex((one) => one.startsWith('&'));
  if (counts >= 0) {
    throw invalidField(
      `${at}.removedTargets[${counts}]`,
      'is a count, which cannot be left out: disable the rule instead',
    );
  }
  if (scope !== '' && (override.addedTargets ?? []).length + (override.tags ?? []).length > 0) {
    throw invalidField(
      `${at}.scope`,
      'goes with no added targets or tags: these are for every path',
    );
  }
}

function onlyTakesAway({ actionEnum, addedTargets = [] }: RuleOverrideJson): boolean {
  const fits = ['RULE_OVERRIDE_ACTION_DISABLE', 'RULE_OVERRIDE_ACTION_DEFAULT'];
  return fits.includes(actionEnum ?? '') && addedTargets.length === 0;
}

/** Errors: invalid_argument for a rule without which nothing is blocked. */
export function refuseEvaluation({ crsRuleId = '' }: RuleOverrideJson, at: string): void {
  const reason = evaluationInRanges(crsRuleId);
  if (reason !== null) throw invalidField(`${at}.crsRuleId`, reason);
}

/** The SecLang of overrides. `rawOf` gives the text of a rule with its chain. */
export function renderOverrides(
  overrides: readonly RuleOverrideJson[],
  rawOf: (ruleId: number) => string | undefined,
): RenderedOverrides {
  const before: string[] = [];
  const after: string[] = [];
  for (const [at, override] of overrides.entries()) {
    const id = Number(override.crsRuleId);
    const raw = rawOf(id) ?? '';
    if ((override.scope ?? '') === '') {
      after.push(...unscoped(override, id, raw));
      continue;
    }
    const change = scoped(override, at, raw);
    after.push(...change.after);
    if (change.before !== '') before.push(change.before);
  }
  return { beforeCrs: before.join('\n'), afterCrs: after.join('\n') };
}

/** The path is decided once, in phase 1; what a rule then does follows from it. */
function scoped(
  override: RuleOverrideJson,
  at: number,
  raw: string,
): { readonly before: string; readonly after: readonly string[] } {
  const id = Number(override.crsRuleId);
  const controls: string[] = [];
  const after: string[] = [];
  const action = override.actionEnum;
  if (action === 'RULE_OVERRIDE_ACTION_DISABLE') controls.push(`ctl:ruleRemoveById=${id}`);
  else {
    for (const one of override.removedTargets ?? []) {
      controls.push(`ctl:ruleRemoveTargetById=${id};${one}`);
    }
    const logOnly = action === 'RULE_OVERRIDE_ACTION_LOG_ONLY';
    if (logOnly || action === 'RULE_OVERRIDE_ACTION_SCORE_OVERRIDE') {
      const change = scopedScore(id, at, raw, logOnly ? 0 : (override.scoreOverride ?? 0));
      controls.push(...change.inScope);
      after.push(...change.updates);
    }
  }
  if (controls.length === 0) return { before: '', after: [] };
  const before =
    `${underPaths([override.scope ?? ''])} \\\n` +
    `  "id:${scopedRules + at},phase:1,pass,nolog,${pathTransformations},${controls.join(',')}"`;
  return { before, after };
}

/**
 * Takes scores back by a variable that only the path sets: elsewhere it is empty and counts as 0.
 */
function scopedScore(
  id: number,
  at: number,
  raw: string,
  score: number,
): { readonly inScope: readonly string[]; readonly updates: readonly string[] } {
  const inScope: string[] = [];
  const byLink = new Map<number, string[]>();
  scoresOf(raw).forEach(({ offset, variable, amount }, index) => {
    const [back, own] = [`override_${at}_${index}_back`, `override_${at}_${index}_score`];
    inScope.push(`setvar:'tx.${back}=${amount}'`);
    const changes = [`setvar:'${variable}=-%{tx.${back}}'`];
    if (score > 0) {
      inScope.push(`setvar:'tx.${own}=${score}'`);
      changes.push(`setvar:'${variable}=+%{tx.${own}}'`);
    }
    byLink.set(offset, [...(byLink.get(offset) ?? []), ...changes]);
  });
  return { inScope, updates: updateLines(id, byLink) };
}

function unscoped(override: RuleOverrideJson, id: number, raw: string): string[] {
  if (override.actionEnum === 'RULE_OVERRIDE_ACTION_DISABLE') return [`SecRuleRemoveById ${id}`];
  const lines: string[] = [];
  const removed = (override.removedTargets ?? []).map((one) => `!${one}`);
  const targets = [...removed, ...(override.addedTargets ?? [])];
  if (targets.length > 0) {
    lines.push(`SecRuleUpdateTargetById ${id} "${targets.join('|')}"`);
  }
  const tags = (override.tags ?? []).map((tag) => `tag:'${tag}'`);
  if (tags.length > 0) lines.push(`SecRuleUpdateActionById ${id} "${tags.join(',')}"`);
  const logOnly = override.actionEnum === 'RULE_OVERRIDE_ACTION_LOG_ONLY';
  if (logOnly) lines.push(`SecRuleUpdateActionById ${id} "pass"`);
  if (logOnly || override.actionEnum === 'RULE_OVERRIDE_ACTION_SCORE_OVERRIDE') {
    lines.push(...scoreChanges(id, raw, logOnly ? 0 : (override.scoreOverride ?? 0)));
  }
  return lines;
}

/** Takes every score of the rule back where it was added, and adds `score` instead. */
function scoreChanges(id: number, raw: string, score: number): string[] {
  const byLink = new Map<number, string[]>();
  for (const { offset, variable, amount } of scoresOf(raw)) {
    const changes = [`setvar:'${variable}=-${amount}'`];
    if (score > 0) changes.push(`setvar:'${variable}=+${score}'`);
    byLink.set(offset, [...(byLink.get(offset) ?? []), ...changes]);
  }
  return updateLines(id, byLink);
}

/** A score that a rule adds, and in which link of its chain. */
interface AddedScore {
  readonly offset: number;
  readonly variable: string;
  readonly amount: string;
}

function scoresOf(raw: string): AddedScore[] {
  return parseSecLang(encodeUtf8(raw), 'rule').directives.flatMap((directive, offset) => {
    if (directive.kind !== 'SecRule' && directive.kind !== 'SecAction') return [];
    return directive.actions
      .filter((action) => action.name.text.toLowerCase() === 'setvar')
      .flatMap((action) => {
        const found = /^(tx\.\w*score\w*)=\+(.+)$/i.exec(action.value?.text ?? '');
        const [, variable = '', amount = ''] = found ?? [];
        return found === null ? [] : [{ offset, variable, amount }];
      });
  });
}

function updateLines(id: number, byLink: ReadonlyMap<number, readonly string[]>): string[] {
  return [...byLink].map(([offset, changes]) => {
    const subject = offset === 0 ? `${id}` : `${id}:${offset}`;
    return `SecRuleUpdateActionById ${subject} "${changes.join(',')}"`;
  });
}

function each(
  list: readonly string[] | undefined,
  at: string,
  pattern: RegExp,
  what: string,
): void {
  (list ?? []).forEach((one, index) => {
    if (!pattern.test(one)) throw invalidField(`${at}[${index}]`, `must be ${what}`);
  });
}
