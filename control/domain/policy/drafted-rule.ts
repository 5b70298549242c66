/**
 * Reads the rule that a model drafted. It may have been talked into anything by the traffic that it
 * read: what would weaken inspection is refused, whatever else it does. Pure.
 */

import type { CustomRuleJson } from '../../../proto/gen/waf/v1/custom_rule_pb.ts';
import { encodeUtf8 } from '../../../base/byte-string.ts';
import { parseSecLang } from '../../../engine/rules/language/parse.ts';
import { resourceLimits } from '../../limits/resource-limits.ts';
import { refusal } from '../errors.ts';

/** A rule, and how sure the model says it is, 0 to 1. */
export interface DraftedRule {
  readonly rule: CustomRuleJson;
  readonly confidence: number;
}

/** The JSON object in an answer. Errors: failed_precondition. */
export function readJsonAnswer(answer: string): Readonly<Record<string, unknown>> {
  const start = answer.indexOf('{');
  const end = answer.lastIndexOf('}');
  try {
    const value: unknown = JSON.parse(answer.slice(start, end + 1));
    if (start >= 0 && typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return value as Readonly<Record<string, unknown>>;
    }
  } catch {
    // Said below.
  }
  throw refusal('failed_precondition', 'the model did not answer in the form asked for; try again');
}

/** Errors: failed_precondition for what is no rule, or weakens inspection. */
export function readDraftedRule(answer: string): DraftedRule {
  const { name, description, phase, seclang, confidence } = readJsonAnswer(answer);
  if (typeof name !== 'string' || typeof seclang !== 'string') {
    throw refusal('failed_precondition', 'the model drafted no rule; say more of what it is to do');
  }
  refuseWeakening(seclang);
  const sure = typeof confidence === 'number' && confidence >= 0 ? Math.min(1, confidence) : 0;
  const rule: CustomRuleJson = {
    name: plain(name, resourceLimits.nameCharactersMax),
    description: typeof description === 'string' ? plain(description, 1024) : '',
    phase: Number.isInteger(phase) ? Number(phase) : 2,
    seclang,
    enabled: true,
  };
  return { rule, confidence: sure };
}

/** The rule with a number of its own in place of the 0 that prompts ask for. */
export function numberDraft(seclang: string, number: number): string {
  return seclang.replace(draftNumber, () => `"id:${number},`);
}

/** How the actions of the first rule begin. */
const draftNumber = /"id:0,/;

function plain(text: string, charactersMax: number): string {
  return text.replace(/[^\P{C}]|[<>]/gu, ' ').slice(0, charactersMax);
}

/** What a drafted rule may do; all else needs a person to write it. */
const harmless = new Set([
  ...['id', 'phase', 'msg', 'logdata', 'severity', 'tag', 'rev', 'ver', 'maturity', 'accuracy'],
  ...['t', 'deny', 'block', 'pass', 'drop', 'status', 'log', 'nolog', 'auditlog', 'noauditlog'],
  ...['capture', 'chain', 'multimatch', 'setvar'],
]);

/** Errors: failed_precondition naming the action. */
function refuseWeakening(seclang: string): void {
  const ids = seclang.match(/"id:0,/g) ?? [];
  if (ids.length !== 1) {
    throw refusal('failed_precondition', 'the model drafted no single rule; try again');
  }
  for (const directive of parseSecLang(encodeUtf8(seclang), 'draft').directives) {
    if (directive.kind !== 'SecRule' && directive.kind !== 'SecAction') {
      throw refusal('failed_precondition', 'the model drafted more than rules; nothing was kept');
    }
    for (const { name, value } of directive.actions) {
      const action = name.text.toLowerCase();
      const adds = /^tx\.(?:inbound_|outbound_)?anomaly_score(?:_pl\d)?=\+/i;
      const sets = action === 'setvar' && !adds.test(value?.text ?? '');
      if (harmless.has(action) && !sets) continue;
      const shown = /^\w{1,32}$/.test(action) ? action : 'unknown';
      throw refusal(
        'failed_precondition',
        `the model drafted a rule with the action ${shown}, which only people may write; ` +
          'nothing was kept',
      );
    }
  }
}
