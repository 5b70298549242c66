/**
 * The choice of what a rule is searched by: the scanner looks for something that is there
 * whenever the rule matches, so that a rule whose condition does not hold need not be visited. For
 * a chain that may be any link, as long as no rule notices that the links before it were not
 * visited. Pure.
 */

import type { ByteString } from '../../../base/byte-string.ts';
import type {
  BoundAction,
  BoundOperator,
  MacroText,
  Prefilter,
  ProgramItem,
  Rule,
  Target,
} from '../transaction/types.ts';
import { SOURCE } from '../transaction/values.ts';
import { anchoredWord, livenessOf, wordsNoticed } from './liveness.ts';

/** What is searched for on behalf of a rule. */
export interface ScanCondition {
  /** Whose targets and transformations are searched. */
  readonly link: Rule;
  readonly filter: Prefilter;
  readonly negated: boolean;
  /** It also holds for values that contain one of these words; lower case, any case meant. */
  readonly words: readonly ByteString[];
  /** True where the link is the rule itself and matches at most on the rows that were hit. */
  readonly onRows: boolean;
  /** Names of TX variables that only the rule itself reads begin so; set while it is visited. */
  readonly ownedPrefix?: string;
}

/** What the prefilter choice needs to know of all rules. */
export interface PrefilterFacts {
  /** The first links of the rules that may run. */
  readonly rules: readonly Rule[];
  /** The text that macros come out as in every transaction; null when that differs. */
  readonly constant: (text: MacroText) => ByteString | null;
  /** What every transaction starts with. */
  readonly txBase: ReadonlyMap<string, ByteString>;
  readonly matchesLive: boolean;
  readonly capturesLive: boolean;
}

const noWords: readonly ByteString[] = [];

/** Works out what traces of unvisited links would be noticed. */
export function prefilterFacts(
  phases: readonly (readonly ProgramItem[])[],
  { constant, txBase }: Pick<PrefilterFacts, 'constant' | 'txBase'>,
): PrefilterFacts {
  const rules = phases.flat().filter((item) => item.kind === 'rule');
  const { matches, captures } = livenessOf(rules);
  return { rules, constant, txBase, matchesLive: matches, capturesLive: captures };
}

/** The rule's best scan condition; null when it has to be visited in every transaction. */
export function chooseCondition(rule: Rule, facts: PrefilterFacts): ScanCondition | null {
  let best = ownCondition(rule, rule, facts);
  if (facts.matchesLive) return best;
  const copied = copyCondition(rule, facts);
  if (copied) return copied;
  for (let link = rule; link.next && isSilent(link, facts); link = link.next) {
    const condition = ownCondition(link.next, rule, facts);
    if (condition && weightOf(condition) > weightOf(best)) best = condition;
  }
  return best;
}

/**
 * What says that the rule cannot match: rows of which one of its links asks for none. Null where
 * there is no such link, or where it would be noticed that those before it were not visited.
 */
export function negativePrefilterOf(rule: Rule, facts: PrefilterFacts): ScanCondition | null {
  const negative = (link: Rule): ScanCondition => {
    return { link, filter: { kind: 'present' }, negated: false, words: noWords, onRows: false };
  };
  if (asksForNone(rule, facts)) return negative(rule);
  if (facts.matchesLive) return null;
  for (let link = rule; link.next && isSilent(link, facts); link = link.next) {
    if (asksForNone(link.next, facts)) return negative(link.next);
  }
  return null;
}

/** True for a link that matches only where its target has no row. */
function asksForNone(link: Rule, facts: PrefilterFacts): boolean {
  const { operator, targets, negated, multiMatch, transformations } = link;
  const [target] = targets;
  if (operator === null || multiMatch || transformations.length > 0) return false;
  if (targets.length !== 1 || !target?.count || target.selector?.kind !== 'key') return false;
  const filter = target.variable.rows ? filterOf(operator, facts) : null;
  if (filter?.kind !== 'number') return false;
  const { relation, operand } = filter;
  if (negated) return (relation === 'ge' && operand <= 1n) || (relation === 'gt' && operand <= 0n);
  if (relation === 'eq') return operand <= 0n;
  return (relation === 'lt' && operand <= 1n) || (relation === 'le' && operand <= 0n);
}

/** Its match alone leaves nothing that is looked at. */
function isSilent(link: Rule, facts: PrefilterFacts): boolean {
  // All rules after it read what it finds.
  if (link.operator?.definition.name === 'geoLookup') return false;
  return link.actions.every(isAuditSwitch) && !(link.capture && facts.capturesLive);
}

/** Turns what concerns audit logs alone, which this engine does not write. */
function isAuditSwitch({ definition, effect }: BoundAction): boolean {
  return definition.name === 'ctl' && effect?.kind === 'isolated';
}

/** How rarely a condition holds; only for comparison. */
function weightOf(condition: ScanCondition | null): number {
  if (condition === null) return 0;
  const { targets } = condition.link;
  if (!condition.negated && faults.has(condition.filter.kind)) return 4;
  if (targets.every(isUsual)) return 1.5;
  if (targets.every(({ selector }) => selector?.kind === 'key')) return 3;
  if (targets.some(({ variable }) => variable.shape === 'collection')) return 2;
  return condition.negated ? 0.5 : 1;
}

/** What values of usual requests do not have. */
const faults: ReadonlySet<string> = new Set(['urlEncoding', 'utf8']);

/** Header fields that nearly every request has, so that any pattern may hit. */
const usualFields: ReadonlySet<string> = new Set([
  'host',
  'user-agent',
  'accept',
  'accept-encoding',
  'accept-language',
  'connection',
  'cookie',
  'referer',
]);

const fieldSources: readonly number[] = [SOURCE.requestHeader, SOURCE.headerRenamed];

function isUsual({ variable, selector }: Target): boolean {
  if (selector?.kind !== 'key' || !usualFields.has(selector.key)) return false;
  return variable.rows!.sources.every((source) => fieldSources.includes(source));
}

function ownCondition(link: Rule, head: Rule, facts: PrefilterFacts): ScanCondition | null {
  const { operator } = link;
  if (operator === null || link.targets.length === 0 || !link.targets.every(isOfRows)) return null;
  const filter = filterOf(operator, facts);
  const searchable =
    filter !== null &&
    !link.targets.some((target) => target.count) &&
    !(link.multiMatch && link.negated) &&
    !(link.negated && isLoose(filter)) &&
    link.transformations.every((t) => t.id >= 0);
  if (searchable) {
    return { link, filter, negated: link.negated, words: noWords, onRows: link === head };
  }
  if (!link.targets.every((target) => isRare(target) && needsRow(link, target, facts))) return null;
  return { link, filter: { kind: 'present' }, negated: false, words: noWords, onRows: false };
}

function filterOf(operator: BoundOperator, facts: PrefilterFacts): Prefilter | null {
  if (operator.prefilter) return operator.prefilter;
  if (!operator.macro || !operator.prefilterFor) return null;
  const argument = facts.constant(operator.macro);
  return argument === null ? null : operator.prefilterFor(argument);
}

/** True where a hit does not yet say that the operator matches. */
export function isLoose(filter: Prefilter): boolean {
  return filter.kind === 'pattern' && filter.loose === true;
}

function isOfRows({ variable, selector }: Target): boolean {
  if (!variable.rows) return false;
  if (selector?.kind !== 'xpath') return true;
  return selector.text === '/*' || selector.text === '//@*';
}

/** Rows of which few requests have one. */
function isRare({ variable, selector }: Target): boolean {
  if (selector?.kind === 'key') return true;
  const rare: readonly number[] = [SOURCE.file, SOURCE.multipartPartHeader];
  return selector === null && variable.rows!.sources.every((source) => rare.includes(source));
}

/** True when the target cannot match without a row: a count of none must not match. */
function needsRow(link: Rule, target: Target, facts: PrefilterFacts): boolean {
  if (!target.count) return true;
  const { operator, negated, multiMatch, transformations } = link;
  const filter = filterOf(operator!, facts);
  if (filter?.kind !== 'number' || multiMatch || transformations.length > 0) return false;
  return compares(filter, 0n) === negated;
}

function compares(
  { relation, operand }: Extract<Prefilter, { kind: 'number' }>,
  value: bigint,
): boolean {
  if (relation === 'eq') return value === operand;
  if (relation === 'ge') return value >= operand;
  if (relation === 'gt') return value > operand;
  return relation === 'le' ? value <= operand : value < operand;
}

/**
 * The scan condition of a chain that copies every value into a TX variable of its own, with
 * something around it, and then asks whether such a variable lies within a constant text: that can
 * be asked of the value itself. Source: CRS 920450 and 920451.
 */
function copyCondition(rule: Rule, facts: PrefilterFacts): ScanCondition | null {
  const asking = rule.next;
  const copy = copyOf(rule);
  if (!copy || !asking || asking.next || facts.capturesLive) return null;
  if ([...facts.txBase.keys()].some((name) => name.startsWith(copy.prefix))) return null;
  const words = wordsNoticed(facts.rules, rule, copy.prefix);
  if (words === null || !asksFor(asking, copy.prefix)) return null;
  const filter = filterOf(asking.operator!, facts);
  if (filter?.kind !== 'within') return null;
  const { before: prefix, after: suffix } = copy;
  return {
    link: rule,
    filter: { ...filter, prefix, suffix },
    negated: false,
    words,
    onRows: false,
    ownedPrefix: copy.prefix,
  };
}

interface Copy {
  /** What the variables' names begin with. */
  readonly prefix: string;
  readonly before: ByteString;
  readonly after: ByteString;
}

function copyOf(rule: Rule): Copy | null {
  const { operator, actions, targets } = rule;
  if (!rule.capture || rule.negated || rule.multiMatch || actions.length !== 1) return null;
  if (!/^rx$/.test(operator?.definition.name ?? '') || !/^\^?\.\*\$?$/.test(operator!.argument)) {
    return null;
  }
  if (!targets.every((target) => !target.count && isOfRows(target))) return null;
  if (rule.transformations.some((t) => t.id < 0)) return null;
  const effect = actions[0]!.effect;
  if (effect?.kind !== 'setTx' || effect.op !== 'set') return null;
  const [prefix, name, ...more] = effect.name.parts;
  const value = around(effect.value);
  if (typeof prefix !== 'string' || !isWholeMatch(name) || more.length > 0 || !value) return null;
  return { prefix, ...value };
}

/** What stands before and after the captured text; null for any other text. */
function around({ parts }: MacroText): { before: ByteString; after: ByteString } | null {
  const at = parts.findIndex(isWholeMatch);
  if (at < 0 || parts.length > 3) return null;
  const [before = '', after = ''] = [parts.slice(0, at), parts.slice(at + 1)].map((rest) => {
    return rest.every((part) => typeof part === 'string') ? rest.join('') : null;
  });
  return before === null || after === null ? null : { before, after };
}

function isWholeMatch(part: MacroText['parts'][number] | undefined): boolean {
  return typeof part === 'object' && part.variable.name === 'TX' && part.key === '0';
}

/** Only the copies are asked for, and of nothing else. */
function asksFor(link: Rule, prefix: string): boolean {
  const { targets, exclusions, operator } = link;
  if (operator === null || link.negated || link.multiMatch) return false;
  if (link.transformations.length > 0 || exclusions.length > 0) return false;
  return targets.every(({ variable, selector, count }) => {
    if (variable.name !== 'TX' || count || selector?.kind !== 'regex') return false;
    const word = anchoredWord(selector.text);
    return word !== null && (prefix.startsWith(word) || word.startsWith(prefix));
  });
}
