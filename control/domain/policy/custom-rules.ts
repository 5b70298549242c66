/**
 * Rules of operators: raw SecLang that may hold rules only, or conditions and an action that become
 * SecLang here. Values are written so that they cannot end the text around them.
 */

import { CustomRuleSchema, type CustomRuleJson } from '../../../proto/gen/waf/v1/custom_rule_pb.ts';
import { encodeUtf8 } from '../../../base/byte-string.ts';
import type { Directive } from '../../../engine/rules/language/ast.ts';
import { parseSecLang } from '../../../engine/rules/language/parse.ts';
import { invalidField } from '../errors.ts';
import { checkName } from '../names.ts';
import { checkBounds } from '../proto-bounds.ts';
import { evaluationInDirective } from './evaluation-rules.ts';
import { patternProblem, writtenProblem } from './pattern-size.ts';
import type { AddedSecLang } from './policy-seclang.ts';
import { writeOperand } from './seclang-operand.ts';
import { readVirtualPatch, renderPatch } from './virtual-patch.ts';

/** Numbers that the service gives to rules; lower ones are free for the operator's own. */
export const customRuleIds = { first: 10_000, last: 99_999 } as const;

/** One condition of a rule made in the editor. */
interface Condition {
  readonly variable: string;
  readonly selector: string;
  readonly operator: string;
  readonly value: string;
  /** List whose addresses are matched, in place of a value; '' for none. */
  readonly ipListId: string;
  readonly negate: boolean;
  readonly transformations: readonly string[];
}

const placements = [
  'before_crs',
  'after_crs',
  'request_before_blocking',
  'response_before_blocking',
];
const operators = [
  'contains',
  'streq',
  'beginsWith',
  'endsWith',
  'rx',
  'pm',
  'within',
  'eq',
  'gt',
  'lt',
  'ge',
  'le',
  'ipMatch',
  'detectSQLi',
  'detectXSS',
];
const actions: Readonly<Record<string, string>> = {
  block: 'deny,log',
  log: 'pass,log',
  allow: 'allow,nolog',
};
const conditionsMax = 16;

/** Checks a rule; errors name the field under `rule`. */
export function checkCustomRule(rule: CustomRuleJson): void {
  checkName(rule.name, 'rule.name');
  checkBounds(CustomRuleSchema, rule, 'rule');
  if (rule.enabled === undefined) throw invalidField('rule.enabled', 'is required');
  const phase = rule.phase ?? 0;
  if (phase < 0 || phase > 5) throw invalidField('rule.phase', 'must be between 1 and 5');
  const placement = rule.placement ?? '';
  if (placement !== '' && !placements.includes(placement)) {
    throw invalidField('rule.placement', `must be one of ${placements.join(', ')}`);
  }
  const id = Number(rule.ruleId ?? 0);
  if (id !== 0 && (id < 1 || id > customRuleIds.last)) {
    throw invalidField('rule.ruleId', `must be between 1 and ${customRuleIds.last}`);
  }
  if (rule.visualSpec === undefined) checkSecLang(rule.seclang ?? '', id);
  else {
    checkVisualSpec(rule.visualSpec);
    renderCustomRule({ ...rule, ruleId: rule.ruleId ?? '1' });
  }
}

/**
 * What rendering passes over must not come in: a misspelt field would make a rule that does
 * something else. Rules that are kept already are rendered as ever.
 */
function checkVisualSpec(spec: Readonly<Record<string, unknown>>): void {
  const at = 'rule.visualSpec';
  onlyKnown(spec, ['conditions', 'action', 'status', 'patch'], at);
  if (spec['patch'] !== undefined && spec['conditions'] !== undefined) {
    throw invalidField(`${at}.conditions`, 'stand in the patch, if there is one');
  }
  if (typeof (spec['action'] ?? '') !== 'string') {
    throw invalidField(`${at}.action`, `must be one of ${Object.keys(actions).join(', ')}`);
  }
  if (typeof (spec['status'] ?? 0) !== 'number') {
    throw invalidField(`${at}.status`, 'must be between 400 and 599');
  }
  const { conditions } = spec;
  if (!Array.isArray(conditions)) return;
  conditions.forEach((one: unknown, index) => {
    const condition = (typeof one === 'object' && one !== null ? one : {}) as typeof spec;
    const place = `${at}.conditions[${index}]`;
    onlyKnown(condition, conditionFields, place);
    if (typeof (condition['negate'] ?? false) !== 'boolean') {
      throw invalidField(`${place}.negate`, 'must be true or false');
    }
    if (!Array.isArray(condition['transformations'] ?? [])) {
      throw invalidField(`${place}.transformations`, 'must be a list of names');
    }
  });
}

/** The SecLang of one rule. Errors: invalid_argument under `rule.visualSpec`. */
export function renderCustomRule(rule: CustomRuleJson): string {
  if (rule.visualSpec === undefined) return rule.seclang ?? '';
  const spec = rule.visualSpec as Readonly<Record<string, unknown>>;
  const action = typeof spec['action'] === 'string' ? spec['action'] : 'block';
  const decision = Object.hasOwn(actions, action) ? actions[action] : undefined;
  if (decision === undefined) {
    throw invalidField(
      'rule.visualSpec.action',
      `must be one of ${Object.keys(actions).join(', ')}`,
    );
  }
  const status = typeof spec['status'] === 'number' ? spec['status'] : 403;
  if (!Number.isInteger(status) || status < 400 || status > 599) {
    throw invalidField('rule.visualSpec.status', 'must be between 400 and 599');
  }
  const decided = [decision, ...(action === 'block' ? [`status:${status}`] : [])].join(',');
  const phase = rule.phase || 2;
  const message = quoted(rule.name ?? '');
  const { patch } = spec;
  return patch === undefined
    ? renderConditions(spec, `id:${rule.ruleId},phase:${phase},${decided},msg:'${message}'`)
    : renderPatch(
        readVirtualPatch(patch, 'rule.visualSpec.patch'),
        { ruleId: rule.ruleId ?? '', phase, message },
        decided,
      );
}

function renderConditions(spec: Readonly<Record<string, unknown>>, head: string): string {
  const conditions = readConditions(spec['conditions']);
  return conditions
    .map((condition, at) => {
      const chain = at < conditions.length - 1 ? 'chain' : '';
      const actions = at === 0 ? `${head},tag:'custom',severity:2` : '';
      const list = [actions, transformations(condition), chain];
      const start = at === 0 ? '' : '  ';
      return `${start}${conditionText(condition)} "${list.filter((one) => one !== '').join(',')}"`;
    })
    .join('\n');
}

/** The texts of enabled rules by the place where they go. */
export function placeCustomRules(rules: readonly CustomRuleJson[]): AddedSecLang {
  const at = (placement: string): string =>
    rules
      .filter((rule) => rule.enabled === true && (rule.placement || 'before_crs') === placement)
      .sort((left, right) => (left.sortOrder ?? 0) - (right.sortOrder ?? 0))
      .map(renderCustomRule)
      .join('\n');
  return {
    beforeCrs: at('before_crs'),
    afterCrs: at('after_crs'),
    requestBeforeBlocking: at('request_before_blocking'),
    responseBeforeBlocking: at('response_before_blocking'),
  };
}

function checkSecLang(seclang: string, ruleId: number): void {
  if (seclang.trim() === '') throw invalidField('rule.seclang', 'is required, or visualSpec');
  const { directives, diagnostics } = parseSecLang(encodeUtf8(seclang), 'rule');
  const error = diagnostics.find(({ severity }) => severity === 'error');
  if (error !== undefined) {
    const { line, column } = error.span;
    throw invalidField('rule.seclang', `line ${line}, column ${column}: ${error.code}`);
  }
  const problem = writtenProblem(directives);
  if (problem !== null) throw invalidField('rule.seclang', problem);
  for (const directive of directives) {
    const { line } = directive.span;
    const evaluation = evaluationInDirective(directive);
    if (evaluation !== null) throw invalidField('rule.seclang', `line ${line}: ${evaluation}`);
    if (directive.kind === 'SecRule' || directive.kind === 'SecAction') continue;
    if (directive.kind === 'SecMarker') continue;
    throw invalidField('rule.seclang', `line ${line}: only SecRule, SecAction and SecMarker`);
  }
  const ids = ruleIdsOf(directives);
  const { last } = customRuleIds;
  const outside = ids.find(({ id }) => id > last);
  if (outside !== undefined) {
    const whose = 'higher ones belong to rulesets and to the product';
    const said = `rule id ${outside.id} must be between 1 and ${last}: ${whose}`;
    throw invalidField('rule.seclang', `line ${outside.line}: ${said}`);
  }
  if (ruleId !== 0 && !ids.some(({ id }) => id === ruleId)) {
    throw invalidField('rule.ruleId', 'must be the id of a rule in seclang');
  }
}

/** Number of the first rule in SecLang text; 0 when none has one. */
export function firstRuleId(seclang: string): number {
  return ruleIdsOf(parseSecLang(encodeUtf8(seclang), 'rule').directives)[0]?.id ?? 0;
}

function ruleIdsOf(directives: readonly Directive[]): { readonly id: number; line: number }[] {
  return directives.flatMap((directive) =>
    directive.kind === 'SecRule' || directive.kind === 'SecAction'
      ? directive.actions
          .filter(({ name }) => name.text.toLowerCase() === 'id')
          .map(({ value }) => ({ id: Number(value?.text), line: directive.span.line }))
          .filter(({ id }) => id > 0)
      : [],
  );
}

function readConditions(value: unknown): Condition[] {
  const at = 'rule.visualSpec.conditions';
  if (!Array.isArray(value) || value.length === 0) {
    throw invalidField(at, 'needs at least one condition');
  }
  if (value.length > conditionsMax) throw invalidField(at, `has at most ${conditionsMax} entries`);
  return value.map((one, index) => readCondition(one, `${at}[${index}]`));
}

const conditionFields = [
  'variable',
  'selector',
  'operator',
  'value',
  'ipListId',
  'negate',
  'transformations',
];

function onlyKnown(value: object, known: readonly string[], at: string): void {
  if (Object.keys(value).every((field) => known.includes(field))) return;
  throw invalidField(at, `Unknown field. Allowed: ${known.join(', ')}.`);
}

function readCondition(value: unknown, at: string): Condition {
  const from = (typeof value === 'object' && value !== null ? value : {}) as Readonly<
    Record<string, unknown>
  >;
  const text = (field: string, absent: string): string => {
    const found = from[field] ?? absent;
    if (typeof found !== 'string') throw invalidField(`${at}.${field}`, 'must be text');
    return found;
  };
  const condition: Condition = {
    variable: text('variable', ''),
    selector: text('selector', ''),
    operator: text('operator', from['ipListId'] === undefined ? 'contains' : 'ipMatch'),
    value: text('value', ''),
    ipListId: text('ipListId', ''),
    negate: from['negate'] === true,
    transformations: Array.isArray(from['transformations'])
      ? from['transformations'].map(String)
      : [],
  };
  if (!/^&?[A-Z][A-Z0-9_]{1,63}$/.test(condition.variable)) {
    throw invalidField(`${at}.variable`, 'must be a variable such as ARGS or REQUEST_URI');
  }
  if (!/^[\w.-]{0,128}$/.test(condition.selector)) {
    throw invalidField(`${at}.selector`, 'must have letters, digits, dots, _ or - only');
  }
  if (!operators.includes(condition.operator)) {
    throw invalidField(`${at}.operator`, `must be one of ${operators.join(', ')}`);
  }
  if (condition.ipListId !== '') checkListOperand(condition, at);
  if (/[\0\r\n]/.test(condition.value) || condition.value.length > 4096) {
    throw invalidField(`${at}.value`, 'must be one line of at most 4096 characters');
  }
  const problem = condition.operator === 'rx' ? patternProblem(condition.value) : null;
  if (problem !== null) throw invalidField(`${at}.value`, `the pattern ${problem}`);
  if (!condition.transformations.every((name) => /^[A-Za-z0-9]{1,32}$/.test(name))) {
    throw invalidField(`${at}.transformations`, 'must be names of transformations');
  }
  return condition;
}

function checkListOperand({ ipListId, operator, value }: Condition, at: string): void {
  if (operator !== 'ipMatch') throw invalidField(`${at}.operator`, 'must be ipMatch with a list');
  if (value !== '') throw invalidField(`${at}.value`, 'must be empty with a list');
  if (!/^[\w-]{1,128}$/.test(ipListId)) throw invalidField(`${at}.ipListId`, 'must be an id');
}

/** The IP lists that the conditions of a rule name, by the place of the condition. */
export function listsOfRule(rule: CustomRuleJson): ReadonlyMap<number, string> {
  const conditions = rule.visualSpec?.['conditions'];
  const found = new Map<number, string>();
  if (!Array.isArray(conditions)) return found;
  for (const [at, condition] of conditions.entries()) {
    const id = (condition as Readonly<Record<string, unknown>> | null)?.['ipListId'];
    if (typeof id === 'string' && id !== '') found.set(at, id);
  }
  return found;
}

/** Where a policy finds the addresses of a list. */
export function listFile(ipListId: string): string {
  return `lists/${ipListId}.data`;
}

function conditionText(condition: Condition): string {
  const { variable, selector, negate, ipListId } = condition;
  const target = selector === '' ? variable : `${variable}:${selector}`;
  if (ipListId !== '') {
    return `SecRule ${target} "${negate ? '!' : ''}@ipMatchFromFile ${listFile(ipListId)}"`;
  }
  const { operator, value } = condition;
  const operand = operator.startsWith('detect')
    ? `@${operator}`
    : writeOperand(operator, value, 'rule.visualSpec.conditions');
  return `SecRule ${target} "${negate ? '!' : ''}${operand}"`;
}

function transformations({ transformations: names }: Condition): string {
  return ['none', ...names].map((name) => `t:${name}`).join(',');
}

function quoted(text: string): string {
  return text.replace(/['"\\%]/g, ' ').slice(0, 128);
}
