/**
 * Owns overrides of single CRS rules: what they may say and the SecLang they become. A score is
 * taken away by setting the same variable by the opposite amount in the same link of the chain.
 */

import type { RuleOverrideJson } from '../../proto/gen/waf/v1/rule_override_pb.ts';
import { encodeUtf8 } from '../../engine/base/byte-string.ts';
import { parseSecLang } from '../../engine/rules/language/parse.ts';
import { invalidField } from './errors.ts';

const listMax = 64;
const target = /^&?[A-Z][A-Z0-9_]{1,63}(?::(?:\/[^"\s\\/]{1,128}\/|[^"\s,|'/]{1,128}))?$/;
const tagPattern = /^[\w./:-]{1,128}$/;
/** Ids of the rules that scoped overrides become. */
const scopedRules = 197_000;

/** SecLang before and behind the ruleset. */
export interface RenderedOverrides {
  readonly beforeCrs: string;
  readonly afterCrs: string;
}

/** Errors: invalid_argument naming the field under `at`. */
export function checkOverride(override: RuleOverrideJson, at = 'override'): void {
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
  if (score !== undefined && (score < 0 || score > 1000)) {
    throw invalidField(`${at}.scoreOverride`, 'must be between 0 and 1000');
  }
  each(override.removedTargets, `${at}.removedTargets`, target, 'a target such as ARGS:name');
  each(override.addedTargets, `${at}.addedTargets`, target, 'a target such as ARGS:name');
  each(override.tags, `${at}.tags`, tagPattern, 'a tag');
  const scope = override.scope ?? '';
  if (scope === '') return;
  if (!/^\/[^\s"'%\\]{0,512}$/.test(scope)) {
    throw invalidField(`${at}.scope`, 'must be a path prefix that begins with a slash');
  }
  const scores = ['RULE_OVERRIDE_ACTION_LOG_ONLY', 'RULE_OVERRIDE_ACTION_SCORE_OVERRIDE'];
  if (scores.includes(action) || (override.addedTargets ?? []).length > 0) {
    throw invalidField(`${at}.scope`, 'goes with DISABLE and with removed targets only');
  }
}

/** The SecLang of overrides. `rawOf` gives the text of a rule with its chain. */
export function renderOverrides(
  overrides: readonly RuleOverrideJson[],
  rawOf: (ruleId: number) => string | undefined,
): RenderedOverrides {
  const before: string[] = [];
  const after: string[] = [];
  overrides.forEach((override, at) => {
    const id = Number(override.crsRuleId);
    if ((override.scope ?? '') === '') after.push(...unscoped(override, id, rawOf(id)));
    else before.push(scoped(override, id, scopedRules + at));
  });
  return { beforeCrs: before.join('\n'), afterCrs: after.join('\n') };
}

function scoped(override: RuleOverrideJson, id: number, ownId: number): string {
  const controls =
    override.actionEnum === 'RULE_OVERRIDE_ACTION_DISABLE'
      ? [`ctl:ruleRemoveById=${id}`]
      : (override.removedTargets ?? []).map((one) => `ctl:ruleRemoveTargetById=${id};${one}`);
  if (controls.length === 0) return '';
  return (
    `SecRule REQUEST_FILENAME "@beginsWith ${override.scope}" \\\n` +
    `  "id:${ownId},phase:1,pass,t:none,nolog,${controls.join(',')}"`
  );
}

function unscoped(override: RuleOverrideJson, id: number, raw: string | undefined): string[] {
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
    lines.push(...scoreChanges(id, raw ?? '', logOnly ? 0 : (override.scoreOverride ?? 0)));
  }
  return lines;
}

/** Takes every score of the rule back where it was added, and adds `score` instead. */
function scoreChanges(id: number, raw: string, score: number): string[] {
  return parseSecLang(encodeUtf8(raw), 'rule').directives.flatMap((directive, offset) => {
    if (directive.kind !== 'SecRule' && directive.kind !== 'SecAction') return [];
    const sets = directive.actions
      .filter((action) => action.name.text.toLowerCase() === 'setvar')
      .flatMap((action) => /^(tx\.[\w]*score[\w]*)=\+(.+)$/i.exec(action.value?.text ?? '') ?? []);
    const changes: string[] = [];
    for (let at = 0; at + 2 < sets.length; at += 3) {
      changes.push(`setvar:'${sets[at + 1]}=-${sets[at + 2]}'`);
      if (score > 0) changes.push(`setvar:'${sets[at + 1]}=+${score}'`);
    }
    if (changes.length === 0) return [];
    const subject = offset === 0 ? `${id}` : `${id}:${offset}`;
    return [`SecRuleUpdateActionById ${subject} "${changes.join(',')}"`];
  });
}

function each(
  list: readonly string[] | undefined,
  at: string,
  pattern: RegExp,
  what: string,
): void {
  if ((list ?? []).length > listMax) throw invalidField(at, `has at most ${listMax} entries`);
  (list ?? []).forEach((one, index) => {
    if (!pattern.test(one)) throw invalidField(`${at}[${index}]`, `must be ${what}`);
  });
}
