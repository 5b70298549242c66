/**
 * Which rules of CRS initialize, sum up, compare and report scores. Without them nothing is
 * blocked, whatever else matches: no override, control or import may take one out. Pure.
 */

import type { ActionExpression, Directive } from '../../../engine/rules/language/ast.ts';

const families = [901, 949, 959, 980] as const;

/** True for the number of such a rule. */
export function isEvaluationRule(id: number): boolean {
  const family = Math.floor(id / 1000);
  return families.some((one) => one === family);
}

/** What to do instead, as the end of a message. */
export const insteadOfEvaluation =
  'sets up, compares or reports the scores of all rules: without it nothing is blocked. To record ' +
  'only: waf policy engine POLICY detection-only, or waf site update SITE --mode detection. To ' +
  'block later: waf site override SITE --threshold N. To report less: crsCore.reportingLevel';

/** Tags that these rules share with few others, or with none; `OWASP_CRS` is the whole rule set. */
const evaluationTags = [
  'anomaly-evaluation',
  'attack-generic',
  'application-multi',
  'language-multi',
  'platform-multi',
  'attack-reputation-ip',
  'event-correlation',
  'reporting',
];
const evaluationMessages = ['Inbound Anomaly Score Exceeded', 'Outbound Anomaly Score Exceeded'];

/** Why a list of numbers and ranges as SecLang has them must not be taken out; null if it may. */
export function evaluationInRanges(text: string): string | null {
  for (const part of text.split(/[\s,]+/)) {
    const [from = NaN, to = from] = part.split('-').map(Number);
    const met = families.find((family) => from <= family * 1000 + 999 && to >= family * 1000);
    if (met === undefined) continue;
    const rule = from === to ? `rule ${from}` : `a rule of ${met}000 to ${met}999 in ${part}`;
    return `${rule} ${insteadOfEvaluation}`;
  }
  return null;
}

/** The same for the text of a removal by tag or message. */
export function evaluationByText(by: 'tag' | 'msg', text: string): string | null {
  if (text === '' || /^\^?OWASP_CRS/.test(text)) return null;
  const known = by === 'tag' ? evaluationTags : evaluationMessages;
  const found = known.find((one) => one === text || matches(text, one));
  if (found === undefined) return null;
  const what = by === 'tag' ? `a rule with the tag ${found}` : `the rule "${found}"`;
  return `${what} ${insteadOfEvaluation}`;
}

/** Why a rule's `ctl` actions must not stand; null where they may. */
export function evaluationInControls(actions: readonly ActionExpression[]): string | null {
  for (const { name, value } of actions) {
    if (name.text.toLowerCase() !== 'ctl' || value === null) continue;
    const [, control = '', argument = ''] = /^\s*(\w+)\s*=\s*([^]*)$/.exec(value.text) ?? [];
    const subject = argument.split(';')[0] ?? '';
    const reason = reasonOf(control.toLowerCase(), subject.trim());
    if (reason !== null) return reason;
  }
  return null;
}

/** Why directives must not take out such rules; null where they do not. */
export function evaluationInDirective(directive: Directive): string | null {
  switch (directive.kind) {
    case 'SecRule':
    case 'SecAction':
      return evaluationInControls(directive.actions);
    case 'SecRuleRemoveById':
      return evaluationInRanges(directive.ids.map(({ text }) => text).join(' '));
    case 'SecRuleRemoveByTag':
      return evaluationByText('tag', directive.pattern.text);
    case 'SecRuleRemoveByMsg':
      return evaluationByText('msg', directive.pattern.text);
    case 'SecRuleUpdateTargetById':
    case 'SecRuleUpdateActionById':
    case 'SecRuleUpdateOperatorById':
      return evaluationInRanges(directive.subject.text.replaceAll(/:\d+/g, ''));
    default:
      return null;
  }
}

function reasonOf(control: string, subject: string): string | null {
  if (control === 'ruleremovebyid' || control === 'ruleremovetargetbyid') {
    return evaluationInRanges(subject);
  }
  if (control === 'ruleremovebytag' || control === 'ruleremovetargetbytag') {
    return evaluationByText('tag', subject);
  }
  if (control === 'ruleremovebymsg' || control === 'ruleremovetargetbymsg') {
    return evaluationByText('msg', subject);
  }
  return null;
}

function matches(pattern: string, text: string): boolean {
  if (pattern.length > 200) return false;
  return text.toLowerCase().includes(pattern.toLowerCase().replace(/^\^|\$$/g, ''));
}
