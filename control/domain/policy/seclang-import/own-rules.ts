/**
 * Rules of the operator: chains become custom rules of the policy, in their order and with numbers
 * that a policy takes. What the product does not run is refused chain by chain.
 */

import { decodeUtf8 } from '../../../../base/byte-string.ts';
import { AppError } from '../../../../base/errors.ts';
import type {
  ActionExpression,
  Directive,
  SecActionDirective,
  SecRuleDirective,
  Token,
} from '../../../../engine/rules/language/ast.ts';
import type { SourceSpan } from '../../../../engine/rules/language/diagnostic.ts';
import { parseSecLang } from '../../../../engine/rules/language/parse.ts';
import { formatDirective } from '../../../../engine/rules/language/print.ts';
import { writtenPatterns } from '../../../../engine/rules/language/written-patterns.ts';
import type { CustomRuleJson } from '../../../../proto/gen/waf/v1/custom_rule_pb.ts';
import { checkCustomRule, customRuleIds } from '../custom-rules.ts';
import { patternProblem } from '../pattern-size.ts';
import { phaseOf } from './default-actions.ts';
import type { PlacedDirective } from './read-order.ts';
import { actionValue, refused, refusedAt, type Verdict } from './report.ts';
import { mapSources, type SourceMap, type SourcePlace } from './source-map.ts';

/** A rule with its chain. */
export interface Chain {
  readonly links: readonly (SecRuleDirective | SecActionDirective)[];
  readonly afterRules: boolean;
  /** What the parser says against one of the links; null for nothing. */
  readonly fault: Verdict | null;
}

/** A custom rule, and where each part of its text comes from. */
export interface MadeRule {
  readonly rule: CustomRuleJson;
  readonly sources: SourceMap;
}

/** Reads a data file of the set-up; null when there is none of that name. */
export type ReadData = (name: string, fromFile: string) => string | null;

/** Numbers of own rules: those that policies take stay, others get free ones. */
export class RuleNumbers {
  private readonly taken: Set<number>;
  private readonly renamed = new Map<number, number>();
  private next: number = customRuleIds.first;

  constructor(own: readonly number[]) {
    this.taken = new Set(own);
    for (const id of own) if (id > customRuleIds.last) this.renamed.set(id, this.free());
  }

  /** A number that no rule has. */
  free(): number {
    while (this.taken.has(this.next)) this.next += 1;
    this.taken.add(this.next);
    return this.next;
  }

  of(id: number): number {
    return this.renamed.get(id) ?? id;
  }
}

/** Numbers of a rule's id action; 0 when it has none. */
export function idOf(directive: Directive): number {
  if (directive.kind !== 'SecRule' && directive.kind !== 'SecAction') return 0;
  const text = actionValue(directive.actions, 'id') ?? '';
  return /^\d{1,12}$/.test(text) ? Number(text) : 0;
}

/** True when the next rule belongs to this one. */
export function isChained(directive: SecRuleDirective | SecActionDirective): boolean {
  return directive.actions.some(({ name }) => name.text.toLowerCase() === 'chain');
}

const refusedOperators = [
  'inspectfile',
  'validateschema',
  'validatedtd',
  'fuzzyhash',
  'gsblookup',
  'validatehash',
  'rsub',
];
const refusedActions = ['exec', 'proxy', 'pause', 'append', 'prepend'];
const inlinedWordsMax = 1000;
const inlinedBytesMax = 32_768;
const inlinedBounds = `${inlinedWordsMax} lines or 32 KB`;

/** A chain as a custom rule, or that it is refused. */
export function customRuleOf(
  chain: Chain,
  numbers: RuleNumbers,
  readData: ReadData,
  sortOrder: number,
): MadeRule | Verdict {
  const [first] = chain.links;
  const id = first === undefined ? 0 : idOf(first);
  if (first === undefined || id === 0) return withoutNumber(first);
  const last = chain.links.at(-1) ?? first;
  if (isChained(last)) return refusedAt(last.span, 'no rule follows that ends its chain');
  const links: (SecRuleDirective | SecActionDirective)[] = [];
  for (const link of chain.links) {
    const changed = withData(renumbered(link, numbers), readData);
    if ('fate' in changed) return changed;
    links.push(changed);
  }
  const bytes = links.map(formatDirective).join('\n');
  const problem = tooLargePattern(chain);
  if (problem !== null) return problem;
  const seclang = decodeUtf8(bytes);
  if (seclang.includes('\uFFFD'))
    return refused('the rule is not UTF-8: write bytes as \\x escapes');
  const message = decodeUtf8(actionValue(first.actions, 'msg') ?? '');
  // Control characters and ends of lines are no part of a name.
  const name = message
    .replace(/[\u0000-\u001f\u007f]+/g, ' ')
    .trim()
    .slice(0, 100);
  const rule: CustomRuleJson = {
    ruleId: String(numbers.of(id)),
    name: name === '' ? `Imported rule ${id}` : name,
    description: `Imported from ${first.span.file}:${first.span.line}`,
    phase: phaseOf(first.actions),
    placement: chain.afterRules ? 'after_crs' : 'before_crs',
    sortOrder,
    enabled: true,
    seclang,
  };
  const unkept = problemOf(rule);
  if (unkept !== null) return refused(unkept);
  return { rule, sources: mapSources(parseSecLang(bytes, 'rule').directives, links) };
}

/** A rule needs a number; one that is no number is named where it stands. */
function withoutNumber(rule: SecRuleDirective | SecActionDirective | undefined): Verdict {
  const id = rule?.actions.findLast(({ name }) => name.text.toLowerCase() === 'id');
  if (id === undefined) return refused('the rule has no id: give it one');
  return refusedAt(id.span, 'id: expected a whole number from 1 on');
}

/** Why no policy keeps the rule, whatever the engine says; null when one does. */
function problemOf(rule: CustomRuleJson): string | null {
  try {
    checkCustomRule(rule);
    return null;
  } catch (error) {
    if (error instanceof AppError) return error.message.replace(/^rule\.\w+: /, 'the rule ');
    throw error;
  }
}

/** What no policy takes, whatever the engine says. */
function tooLargePattern({ links }: Chain): Verdict | null {
  for (const { pattern, file, line, column } of writtenPatterns(links)) {
    const problem = patternProblem(pattern);
    if (problem !== null) return refusedAt({ file, line, column }, `the pattern ${problem}`);
  }
  return null;
}

function renumbered<T extends SecRuleDirective | SecActionDirective>(
  directive: T,
  numbers: RuleNumbers,
): T {
  const actions = directive.actions.map((action): ActionExpression => {
    const { name, value } = action;
    if (value === null) return action;
    const kind = name.text.toLowerCase();
    if (kind === 'id') return { ...action, value: tokenOf(value, newId(value.text, numbers)) };
    if (kind !== 'ctl') return action;
    const text = value.text.replace(
      /^(rule(?:Remove|RemoveTarget)ById=)(\d+)(?=;|$)/i,
      (_, head: string, id: string) => head + newId(id, numbers),
    );
    return { ...action, value: tokenOf(value, text) };
  });
  return { ...directive, actions };
}

function newId(text: string, numbers: RuleNumbers): string {
  return /^\d{1,12}$/.test(text) ? String(numbers.of(Number(text))) : text;
}

function tokenOf(token: Token, text: string): Token {
  return { ...token, text };
}

/** Word and address lists of files stand in the rule itself; a policy has no files of its own. */
function withData<T extends SecRuleDirective | SecActionDirective>(
  directive: T,
  readData: ReadData,
): T | Verdict {
  const forbidden = directive.actions.find(({ name }) =>
    refusedActions.includes(name.text.toLowerCase()),
  );
  if (forbidden !== undefined) {
    return refusedAt(placeOf(forbidden), `the action ${forbidden.name.text} is not supported`);
  }
  if (directive.kind !== 'SecRule') return directive;
  const { operator } = directive;
  const name = operator.name.text.toLowerCase();
  if (refusedOperators.includes(name)) {
    return refusedAt(placeOf(operator), `@${operator.name.text} is not supported`);
  }
  const words = name === 'pmfromfile' || name === 'pmf';
  if (!words && name !== 'ipmatchfromfile' && name !== 'ipmatchf') return directive;
  const file = operator.argument.text.trim();
  const text = readData(file, directive.span.file);
  const at = placeOf(operator.argument);
  if (text === null)
    return refusedAt(at, `the data file ${file} is not in the folder: copy it there`);
  const lines = dataLines(text);
  const joined = words ? lines.map(wordText).join(' ') : lines.join(',');
  if (lines.length === 0) return refusedAt(at, `the data file ${file} has no lines`);
  if (lines.length > inlinedWordsMax || joined.length > inlinedBytesMax) {
    const instead = words ? 'write several rules with a part of it each' : 'use an IP list';
    return refusedAt(at, `the data file ${file} has more than ${inlinedBounds}: ${instead}`);
  }
  return {
    ...directive,
    operator: {
      ...operator,
      name: tokenOf(operator.name, words ? 'pm' : 'ipMatch'),
      argument: tokenOf(operator.argument, joined),
    },
  };
}

/** The lines of a data file that say something, without blanks around them. */
function dataLines(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
}

/** A phrase as one word of @pm: what would part it or has a meaning there is written in hex. */
function wordText(phrase: string): string {
  return phrase.replaceAll(/[^!#$&(-9<-[\]-{}~]+/g, (run) => {
    const hex = [...run].map((char) => char.charCodeAt(0).toString(16).padStart(2, '0'));
    return `|${hex.join(' ')}|`;
  });
}

function placeOf({ span: { file, line, column } }: { readonly span: SourceSpan }): SourcePlace {
  return { file, line, column };
}

/** Groups rules with the links of their chains; a directive in between ends a chain early. */
export function chainsOf(placed: readonly PlacedDirective[]): {
  readonly chains: ReadonlyMap<Directive, Chain>;
  /** Links by the first rule of their chain. */
  readonly heads: ReadonlyMap<Directive, Directive>;
} {
  const chains = new Map<Directive, Chain>();
  const heads = new Map<Directive, Directive>();
  let open: (SecRuleDirective | SecActionDirective)[] = [];
  for (const { directive, afterRules, fault } of placed) {
    if (directive.kind !== 'SecRule' && directive.kind !== 'SecAction') {
      open = [];
      continue;
    }
    const [head = directive] = open;
    open = [...open, directive];
    heads.set(directive, head);
    const found = chains.get(head)?.fault ?? fault;
    chains.set(head, { links: open, afterRules, fault: found });
    if (!isChained(directive)) open = [];
  }
  return { chains, heads };
}
