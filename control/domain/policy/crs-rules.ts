/**
 * The description of a ruleset's rules for people: category, level, score, targets. Reads the
 * syntax only; what a rule does is decided by the engine.
 */

import { createHash } from 'node:crypto';
import type { CrsCategoryJson, CrsRuleJson, CrsTagJson } from '../../../proto/gen/waf/v1/crs_pb.ts';
import type {
  ActionExpression,
  Directive,
  VariableExpression,
} from '../../../engine/rules/language/ast.ts';
import { decodeUtf8 } from '../../../base/byte-string.ts';
import { parseSecLang } from '../../../engine/rules/language/parse.ts';

/** A rule with its chain; `raw` is its text. */
export type DescribedRule = CrsRuleJson & {
  readonly ruleId: number;
  readonly file: string;
  readonly raw: string;
  readonly phase: number;
  readonly tags: string[];
  /** Place among the rules of all files, in the order in which they were given. */
  readonly place: number;
  /** Every link of the chain; one for a rule without. */
  readonly links: readonly RuleLink[];
};

/** One link of a rule. */
export interface RuleLink {
  readonly targets: readonly string[];
  /** '' for SecAction. */
  readonly operator: string;
  readonly transforms: readonly string[];
}

type RuleDirective = Extract<Directive, { kind: 'SecRule' | 'SecAction' }>;

const severities = [
  'EMERGENCY',
  'ALERT',
  'CRITICAL',
  'ERROR',
  'WARNING',
  'NOTICE',
  'INFO',
  'DEBUG',
];
const scores: Readonly<Record<string, number>> = {
  critical_anomaly_score: 5,
  error_anomaly_score: 4,
  warning_anomaly_score: 3,
  notice_anomaly_score: 2,
};

/** Rules of a ruleset by id. `files` holds the rule files' text as byte strings. */
export function describeRules(
  files: readonly { readonly path: string; readonly text: string }[],
  rulesetId: string,
): DescribedRule[] {
  return files
    .flatMap(({ path, text }) => describeFile(path, text, rulesetId))
    .map((rule, place) => ({ ...rule, place }))
    .sort((left, right) => left.ruleId - right.ruleId);
}

/** Categories with the number of their rules. */
export function categoriesOf(rules: readonly DescribedRule[]): CrsCategoryJson[] {
  return countBy(rules, (rule) => [rule.category ?? '']).map(([code, ruleCount]) => ({
    code,
    label: labelOf(code),
    ruleCount,
  }));
}

/** Tags with the number of their rules. */
export function tagsOf(rules: readonly DescribedRule[]): CrsTagJson[] {
  return countBy(rules, (rule) => rule.tags).map(([tag, ruleCount]) => ({ tag, ruleCount }));
}

type PlacelessRule = Omit<DescribedRule, 'place'>;

function describeFile(path: string, text: string, rulesetId: string): PlacelessRule[] {
  const lines = text.split('\n');
  const rules: PlacelessRule[] = [];
  let chain: RuleDirective[] = [];
  for (const directive of parseSecLang(text, path).directives) {
    if (directive.kind !== 'SecRule' && directive.kind !== 'SecAction') continue;
    chain.push(directive);
    if (has(directive.actions, 'chain')) continue;
    const described = describeChain(path, lines, chain, rulesetId);
    if (described !== null) rules.push(described);
    chain = [];
  }
  return rules;
}

function describeChain(
  path: string,
  lines: readonly string[],
  chain: readonly RuleDirective[],
  rulesetId: string,
): PlacelessRule | null {
  const [first] = chain;
  const last = chain.at(-1);
  if (first === undefined || last === undefined) return null;
  const ruleId = Number(value(first.actions, 'id'));
  if (!Number.isInteger(ruleId)) return null;
  const raw = lines.slice(first.span.line - 1, last.span.endLine).join('\n');
  const tags = values(first.actions, 'tag');
  const category = categoryOf(path);
  const sets = chain.flatMap(({ actions }) => values(actions, 'setvar'));
  const score = sets.map((one) => /^tx\.([a-z_]*score[a-z_0-9]*)=\+%\{tx\.(\w+)\}/i.exec(one));
  const scored = score.find((one) => one !== null);
  const file = path.slice(path.lastIndexOf('/') + 1);
  const isEvaluation = ['949', '959', '980'].includes(category);
  return {
    ruleId,
    file,
    category,
    categoryLabel: labelOf(category),
    paranoiaLevel: Number(/paranoia-level\/(\d)/.exec(tags.join(' '))?.[1] ?? 0),
    severity: severityOf(value(first.actions, 'severity')),
    defaultAction: disruptiveOf(first.actions),
    defaultScore: scores[scored?.[2]?.toLowerCase() ?? ''] ?? 0,
    msg: decodeUtf8(value(first.actions, 'msg')),
    tags,
    phase: Number(value(first.actions, 'phase').replace('request', '2').replace('response', '4')),
    isInitialization: category === '901',
    isEvaluation,
    ruleKind: first.kind === 'SecAction' ? 'action' : chain.length > 1 ? 'chain' : 'rule',
    scoreVariable: scored?.[1] ?? '',
    scoreExpression: scored?.[0] ?? '',
    rawSha256: createHash('sha256').update(raw, 'latin1').digest('hex'),
    line: first.span.line,
    targets: first.kind === 'SecRule' ? first.variables.map(targetOf) : [],
    operator: first.kind === 'SecRule' ? decodeUtf8(operatorOf(first)) : '',
    transformChain: values(first.actions, 't').filter((name) => name !== 'none'),
    rulesetId,
    raw: decodeUtf8(raw),
    links: chain.map(describeLink),
  };
}

function describeLink(link: RuleDirective): RuleLink {
  const transforms = values(link.actions, 't').filter((name) => name !== 'none');
  if (link.kind === 'SecAction') return { targets: [], operator: '', transforms };
  const operator = decodeUtf8(operatorOf(link));
  return { targets: link.variables.map(targetOf), operator, transforms };
}

function targetOf({ name, selector, count, exclusion }: VariableExpression): string {
  const start = `${exclusion ? '!' : ''}${count ? '&' : ''}${name.text}`;
  if (selector.kind === 'none') return start;
  return `${start}:${selector.kind === 'regex' ? `/${selector.text}/` : selector.text}`;
}

function operatorOf({ operator }: Extract<Directive, { kind: 'SecRule' }>): string {
  const { name, argument, negated } = operator;
  return `${negated ? '!' : ''}@${name.text} ${argument.text}`.trimEnd();
}

function disruptiveOf(actions: readonly ActionExpression[]): string {
  const names = ['block', 'deny', 'drop', 'redirect', 'allow', 'pass'];
  return names.find((name) => has(actions, name)) ?? '';
}

function severityOf(text: string): string {
  const named = text.toUpperCase();
  return severities.includes(named) ? named : (severities[Number(text || -1)] ?? '');
}

function categoryOf(path: string): string {
  return /(?:^|\/)[A-Z]+-(\d{3})[-.]/.exec(path)?.[1] ?? '';
}

const labels: Readonly<Record<string, string>> = {
  901: 'Initialization',
  900: 'Local exclusions',
  903: 'Application exclusions',
  905: 'Common exceptions',
  910: 'IP reputation',
  911: 'Method enforcement',
  912: 'DoS protection',
  913: 'Scanner detection',
  920: 'Protocol enforcement',
  921: 'Protocol attack',
  922: 'Multipart attack',
  930: 'Local file inclusion',
  931: 'Remote file inclusion',
  932: 'Remote code execution',
  933: 'PHP injection',
  934: 'Generic injection',
  941: 'Cross-site scripting',
  942: 'SQL injection',
  943: 'Session fixation',
  944: 'Java attack',
  949: 'Inbound blocking',
  950: 'Data leakage',
  951: 'SQL data leakage',
  952: 'Java data leakage',
  953: 'PHP data leakage',
  954: 'IIS data leakage',
  955: 'Web shells',
  956: 'Ruby data leakage',
  959: 'Outbound blocking',
  980: 'Correlation',
  999: 'Local exclusions',
};

function labelOf(category: string): string {
  return labels[category] ?? (category === '' ? 'Other' : `Category ${category}`);
}

function has(actions: readonly ActionExpression[], name: string): boolean {
  return actions.some((action) => action.name.text.toLowerCase() === name);
}

function values(actions: readonly ActionExpression[], name: string): string[] {
  return actions
    .filter((action) => action.name.text.toLowerCase() === name)
    .map((action) => action.value?.text ?? '');
}

function value(actions: readonly ActionExpression[], name: string): string {
  return values(actions, name)[0] ?? '';
}

function countBy(
  rules: readonly DescribedRule[],
  keysOf: (rule: DescribedRule) => readonly string[],
): [string, number][] {
  const counts = new Map<string, number>();
  for (const rule of rules) {
    for (const key of keysOf(rule)) counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return [...counts].sort(([left], [right]) => (left < right ? -1 : 1));
}
