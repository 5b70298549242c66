/**
 * Liveness analysis: which effects of a rule on a transaction another rule may read. Effects that
 * are dead need not take place. Pure.
 */

import type { ByteString } from '../../../base/byte-string.ts';
import { lowerBytes } from '../transaction/macro.ts';
import type { BoundAction, MacroText, Rule, Target } from '../transaction/types.ts';
import { controlOf, linksOf, txReads } from './written-reads.ts';

/** Which effects of one rule another may read. */
export interface Liveness {
  /** MATCHED_VAR and the like. */
  readonly matches: boolean;
  /** TX.0 to TX.9. */
  readonly captures: boolean;
}

/** What `rules`, with their chain links, read of each other's effects. */
export function livenessOf(rules: readonly Rule[]): Liveness {
  const links = rules.flatMap(linksOf);
  // Tags are expanded before their rule is evaluated where removals compare them.
  const tags = links.some(removesByTag) ? rules.flatMap((rule) => rule.tags) : [];
  const texts = tags.map(({ source }) => source);
  // A tag that shows RULE shows whatever rule ran last.
  const any = texts.some(namesRule);
  return {
    matches: any || rules.some(readsForeignMatch) || texts.some(namesMatches),
    captures: any || rules.some(readsForeignCapture) || texts.some(namesCapture),
  };
}

function removesByTag({ actions }: Rule): boolean {
  return actions.some((action) => controlOf(action)?.removal?.by === 'tag');
}

/** True when a rule may read MATCHED_* of whatever matched before it. */
function readsForeignMatch(rule: Rule): boolean {
  // A link reads what its starter left, unless the starter is an action, which leaves nothing.
  if (rule.id === 0) return false;
  if (rule.operator !== null)
    return looksAtMatches(rule) || askedTexts(rule, rule).some(namesMatches);
  for (let link: Rule | null = rule; link; link = link.next) {
    if (looksAtMatches(link) || writesMatches(link)) return true;
    if (link.operator !== null) return false;
  }
  return false;
}

/** True when the rule's own links, actions or log texts look at what its links matched. */
export function usesMatches(rule: Rule): boolean {
  if (rule.log || rule.auditLog) return true;
  for (let link: Rule | null = rule; link; link = link.next) {
    if (looksAtMatches(link) || writesMatches(link)) return true;
    if (
      link.actions.some(({ definition, argument }) => {
        return definition.name.startsWith('sanitise') || namesMatches(argument);
      })
    )
      return true;
  }
  return false;
}

/** Reads them before it has matched itself. */
function looksAtMatches({ targets, operator }: Rule): boolean {
  if (targets.some((target) => target.variable.name.startsWith('MATCHED_VAR'))) return true;
  return operator !== null && namesMatches(operator.argument);
}

/**
 * What the link's targets and operator read of `head` through RULE before anything has matched: its
 * message and log data, with their macros expanded.
 */
function askedTexts(link: Rule, head: Rule): ByteString[] {
  const targets = [...link.targets, ...link.exclusions];
  const asks = targets.some(({ variable }) => variable.name === 'RULE');
  return asks || namesRule(link.operator?.argument ?? '') ? ruleTexts(head) : [];
}

function ruleTexts({ message, logData }: Rule): ByteString[] {
  return [message, logData].flatMap((text) => (text === null ? [] : [text.source]));
}

function namesRule(text: ByteString): boolean {
  return /%\{rule\b/i.test(text);
}

/** Reads them when it has matched: of use only to rules that leave no match of their own. */
function writesMatches(rule: Rule): boolean {
  const texts = [rule.message, rule.logData, rule.disruption.location, ...rule.tags];
  if (texts.some((text) => text !== null && namesMatches(text.source))) return true;
  if (rule.operator !== null) return false;
  return rule.actions.some(({ definition, argument }) => {
    return definition.name.startsWith('sanitiseMatched') || namesMatches(argument);
  });
}

function namesMatches(text: ByteString): boolean {
  return /%\{matched_var/i.test(text);
}

/**
 * True when the rule may read TX.0 to TX.9 as another rule's `capture` left them. Log texts do not
 * count: what they show of another rule's captures is an accident.
 */
function readsForeignCapture(rule: Rule): boolean {
  let captured = false;
  for (let link: Rule | null = rule; link; link = link.next) {
    if (captured) return false;
    const { operator } = link;
    if (operator && namesCapture(operator.argument)) return true;
    if ([...link.targets, ...link.exclusions].some(selectsCapture)) return true;
    if (askedTexts(link, rule).some(namesCapture)) return true;
    // What captures nothing leaves the older ones.
    captured = link.capture && !link.negated && operator?.definition.captures === true;
    if (captured) continue;
    const effects = effectTexts(link);
    if (effects.some(namesCapture)) return true;
    if (effects.some(namesRule) && ruleTexts(rule).some(namesCapture)) return true;
  }
  return false;
}

/**
 * True for a rule that captures, where what one value's match captured may only be read or changed
 * once all values had their turn: by its log texts, its chain, later rules. Its own actions run for
 * each match.
 */
export function readsLastCapture(rule: Rule): boolean {
  const { capture, negated, operator, actions } = rule;
  if (!capture || negated || operator?.definition.captures !== true) return false;
  const texts = [operator.argument, ...actions.map(({ argument }) => argument)];
  if (texts.some(namesCapture) || actions.some(setsCapture)) return false;
  return !texts.some(namesRule) || !ruleTexts(rule).some(namesCapture);
}

/**
 * True for a rule of one link where only the last matches are ever read, by its log texts: of the
 * others, its actions are all that is left. Holds where no other rule reads what it matched.
 */
export function showsLastMatches(rule: Rule): boolean {
  const { next, multiMatch, tags, actions } = rule;
  if (next !== null || multiMatch || looksAtMatches(rule)) return false;
  // Removals compare tags while a rule runs.
  if (tags.some(({ literal }) => literal === null)) return false;
  // The first of all that matched.
  if ([...logTexts(rule), ...effectTexts(rule)].some(namesMatchList)) return false;
  return actions.every(({ effect, argument }) => {
    return effect?.kind === 'setTx' && !namesMatches(argument) && !namesRule(argument);
  });
}

function namesMatchList(text: ByteString): boolean {
  return /%\{matched_vars/i.test(text);
}

/** Could the action set or remove one of TX.0 to TX.9? */
function setsCapture({ effect }: BoundAction): boolean {
  if (effect?.kind !== 'setTx') return false;
  return effect.name.literal === null || /^\d$/.test(effect.name.literal);
}

/** Texts that decide what the rule does. */
function effectTexts({ disruption, actions }: Rule): ByteString[] {
  const texts = actions.map((action) => action.argument);
  return disruption.location ? [...texts, disruption.location.source] : texts;
}

function logTexts({ message, logData, tags }: Rule): ByteString[] {
  return [message, logData, ...tags].flatMap((text) => (text === null ? [] : [text.source]));
}

function namesCapture(text: ByteString): boolean {
  const { names, lists } = txReads(text);
  return lists || names.some((name) => /^\d$/.test(name));
}

function selectsCapture({ variable, selector }: Target): boolean {
  if (variable.name !== 'TX') return false;
  if (selector?.kind === 'key') return /^\d$/.test(selector.key);
  if (selector?.kind !== 'regex') return true;
  return Array.from({ length: 10 }, (_, i) => String(i)).some((name) => selector.regex.test(name));
}

/**
 * How rules other than `owner` may notice TX variables whose names begin with `prefix`: words of
 * which the rest of such a name has to hold one. Null: otherwise, or unknown. Rules are first
 * links.
 */
export function wordsNoticed(
  rules: readonly Rule[],
  owner: Rule,
  prefix: string,
): readonly string[] | null {
  const words: string[] = [];
  for (const rule of rules) {
    if (rule === owner) continue;
    for (let link: Rule | null = rule; link; link = link.next) {
      if (namesPrefix(link, prefix)) return null;
      for (const target of [...link.targets, ...link.exclusions]) {
        const noticed = wordsSelected(target, prefix);
        if (noticed === null) return null;
        words.push(...noticed);
      }
    }
  }
  return words;
}

function namesPrefix(rule: Rule, prefix: string): boolean {
  const texts = [...effectTexts(rule), ...logTexts(rule)];
  if (rule.operator) texts.push(rule.operator.argument);
  if (texts.some((text) => namesVariable(text, prefix))) return true;
  return rule.actions.some(({ effect, definition }) => {
    if (effect?.kind === 'setTx') return mayMeet(headOf(effect.name), prefix);
    return effect === undefined && /^(?:setvar|deprecatevar)$/.test(definition.name);
  });
}

function wordsSelected({ variable, selector }: Target, prefix: string): readonly string[] | null {
  if (variable.name !== 'TX') return [];
  if (selector?.kind === 'key') return selector.key.startsWith(prefix) ? null : [];
  if (selector?.kind !== 'regex') return null;
  const start = anchoredWord(selector.text);
  if (start !== null) return mayMeet(start, prefix) ? null : [];
  const word = wordWithin(selector.text);
  return word === null || overlaps(prefix, word) ? null : [word];
}

/** The word that a regex finds anywhere, where it is nothing but that. */
function wordWithin(source: ByteString): string | null {
  const [, text, rest] = /^((?:[A-Za-z0-9_-]|\\[^A-Za-z0-9])+)(|\*|\.\*)$/.exec(source) ?? [];
  if (text === undefined) return null;
  const letters = text.replaceAll(/\\(.)/gs, '$1');
  const word = rest === '*' ? letters.slice(0, -1) : letters;
  return word === '' ? null : lowerBytes(word);
}

/** Could `prefix` with some text after it hold the word where that text alone does not? */
function overlaps(prefix: string, word: string): boolean {
  if (prefix.includes(word)) return true;
  for (let size = 1; size < word.length; size++) {
    if (prefix.endsWith(word.slice(0, size))) return true;
  }
  return false;
}

/** The word that a regex demands at the start, where it is nothing but that. */
export function anchoredWord(source: ByteString): string | null {
  const found = /^\^([A-Za-z0-9_-]+)/.exec(source);
  if (!found) return null;
  const rest = source.slice(found[0].length);
  // A quantifier takes the last letter back; an alternative takes all of it back.
  const word = /^[*?{]/.test(rest) ? found[1]!.slice(0, -1) : found[1]!;
  return rest.includes('|') || word === '' ? null : word.toLowerCase();
}

function namesVariable(text: ByteString, prefix: string): boolean {
  const { names, lists } = txReads(text);
  return lists || names.some((name) => name.startsWith(prefix));
}

function headOf(name: MacroText): string {
  const [head] = name.parts;
  return typeof head === 'string' ? lowerBytes(head) : '';
}

/** Could a name that begins with one of them begin with the other? */
function mayMeet(one: string, other: string): boolean {
  return one.startsWith(other) || other.startsWith(one);
}
