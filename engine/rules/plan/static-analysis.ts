/**
 * Owns the question which rules can be decided ahead: those that run in every transaction and ask
 * of nothing but TX and how the body was read. As long as no other rule changes what they read,
 * they come out the same each time. Says, too, which rules change or read it. Decides nothing.
 */

import type { ByteString } from '../../base/byte-string.ts';
import type {
  BoundAction,
  MacroText,
  ProgramItem,
  Rule,
  Target,
  VariableDefinition,
} from '../transaction/types.ts';
import { plainOperators } from './planning-request.ts';
import { anchoredWord } from './liveness.ts';
import { type ControlSwitch, controlOf, textsOf, txReads } from './written-reads.ts';

/** How much of a link's question is known ahead. */
export const KNOWN = {
  no: 0,
  /** It asks of TX alone. */
  tx: 1,
  /** And of how the body was read. */
  body: 2,
  /** And of how long it is, which is known where there is none. */
  length: 3,
} as const;

/** What a link does to TX variables that rules decided ahead read or write. */
export const TOUCHES = {
  /** It reads them when it is evaluated. */
  asking: 1,
  /** It reads or changes them, or what rules run, when it matches. */
  acting: 2,
} as const;

/** By rule index, chain links included. */
export interface StaticAnalysis {
  /** One of `KNOWN`. */
  readonly known: Uint8Array;
  /** 1 where a match does nothing but set TX variables to texts that are known. */
  readonly setsOnly: Uint8Array;
  /** Sum of `TOUCHES`. */
  readonly touches: Uint8Array;
  /** By phase: 1 where a rule may change which body processor runs. */
  readonly changesBody: Uint8Array;
  /** No rule looks at what an earlier one matched. */
  readonly matchesUnread: boolean;
}

/** What the plan knows of a phase. */
interface PhaseItems {
  readonly items: readonly ProgramItem[];
  readonly always: Uint32Array;
}

/** Works out what can be decided ahead. Cost: linear in rules times names that are read. */
export function analyzeRules(
  phases: readonly PhaseItems[],
  rules: readonly Rule[],
  targetIdOfRule: Int32Array,
  matchesUnread: boolean,
): StaticAnalysis {
  const known = Uint8Array.from(rules, knownOf);
  const setsOnly = Uint8Array.from(rules, (rule) => Number(onlySets(rule)));
  const shared = new SharedNames();
  const visited: Rule[] = [];
  for (const { items, always } of phases) {
    items.forEach((item, at) => {
      if (item.kind !== 'rule') return;
      const runs = (always[at >>> 5]! & (1 << (at & 31))) !== 0;
      if (runs || targetIdOfRule[item.index]! >= 0) visited.push(item);
      if (!runs) return;
      for (let link: Rule | null = item; link && known[link.index]! > 0; link = link.next) {
        // Where it matches, it is visited after all.
        const decided = setsOnly[link.index] === 1;
        if (link.operator !== null) shared.addAsked(link);
        if (!decided) break;
        shared.addSet(link);
      }
    });
  }
  if (visited.some((rule) => shared.needsOrder(rule))) known.fill(KNOWN.no);
  return {
    known,
    setsOnly,
    touches: Uint8Array.from(rules, (rule) => shared.touchesOf(rule)),
    changesBody: Uint8Array.from(phases, ({ items }) => Number(items.some(changesProcessor))),
    matchesUnread,
  };
}

const bodyFacts: ReadonlySet<string> = new Set([
  'REQBODY_PROCESSOR',
  'REQBODY_ERROR',
  'REQBODY_PROCESSOR_ERROR',
  'INSPECTION_LIMIT_ERROR',
]);

/** What a body without errors and parts leaves as it was. */
function isBodyFact({ name, shape, rows }: VariableDefinition): boolean {
  return bodyFacts.has(name) || (name.startsWith('MULTIPART_') && shape === 'scalar' && !rows);
}

function knownOf({ operator, targets }: Rule): number {
  if (operator === null) return KNOWN.tx;
  if (!plainOperators.has(operator.definition.name)) return KNOWN.no;
  if (operator.macro && !ofTxAlone(operator.macro)) return KNOWN.no;
  let most: number = KNOWN.tx;
  for (const { variable, selector } of targets) {
    if (selector?.kind === 'xpath') return KNOWN.no;
    if (variable.name === 'TX') continue;
    if (isBodyFact(variable)) most = Math.max(most, KNOWN.body);
    else if (variable.name === 'REQUEST_BODY_LENGTH') most = KNOWN.length;
    else return KNOWN.no;
  }
  return most;
}

function ofTxAlone(text: MacroText): boolean {
  return text.parts.every((part) => {
    return typeof part === 'string' || (part.variable.name === 'TX' && isName(part));
  });
}

function isName({ key, regex }: { key: ByteString; regex?: unknown }): boolean {
  return key !== '' && regex === undefined;
}

function onlySets({ capture, actions }: Rule): boolean {
  return (
    !capture &&
    actions.every(({ effect }) => {
      return effect?.kind === 'setTx' && effect.name.literal !== null && ofTxAlone(effect.value);
    })
  );
}

function changesProcessor(item: ProgramItem): boolean {
  for (let link = item.kind === 'rule' ? item : null; link; link = link.next) {
    if (link.actions.some((one) => controlOf(one)?.name === 'requestbodyprocessor')) return true;
  }
  return false;
}

const captureNames = Array.from({ length: 10 }, (_, i) => String(i));

/** TX variables, and other things, that rules decided ahead read or write. */
class SharedNames {
  private readonly reads = new Set<string>();
  private readonly writes = new Set<string>();
  private readonly patterns: { readonly text: string; test(name: string): boolean }[] = [];
  private readsAll = false;

  addAsked({ targets, exclusions, operator }: Rule): void {
    for (const target of [...targets, ...exclusions]) this.addTarget(target);
    if (operator?.macro) this.addMacro(operator.macro);
  }

  addSet({ actions }: Rule): void {
    for (const { effect } of actions) {
      if (effect?.kind !== 'setTx') continue;
      if (effect.name.literal !== null) this.writes.add(effect.name.literal);
      this.addMacro(effect.value);
    }
  }

  /** Does it matter to the rule in which order TX variables came to be? */
  needsOrder(rule: Rule): boolean {
    for (let link: Rule | null = rule; link; link = link.next) {
      const lists = [...link.targets, ...link.exclusions].some((target) => {
        return target.selector?.kind !== 'key' && this.readsWritten(target);
      });
      if (lists || textsOf(link).some((text) => txReads(text).lists)) return true;
    }
    return false;
  }

  touchesOf(link: Rule): number {
    const asking = this.asks(link) ? TOUCHES.asking : 0;
    const captures = link.capture && captureNames.some((name) => this.concerns(name));
    const acting = captures || link.actions.some((action) => this.changes(action));
    return asking + (acting ? TOUCHES.acting : 0);
  }

  private addTarget({ variable, selector }: Target): void {
    if (variable.name !== 'TX') return;
    if (selector === null || selector.kind === 'xpath') this.readsAll = true;
    else if (selector.kind === 'key') this.reads.add(selector.key);
    else this.patterns.push({ text: selector.text, test: (name) => selector.regex.test(name) });
  }

  private addMacro({ parts }: MacroText): void {
    for (const part of parts) if (typeof part !== 'string') this.reads.add(part.key);
  }

  private asks({ targets, exclusions, operator, tags }: Rule): boolean {
    if ([...targets, ...exclusions].some((target) => this.readsWritten(target))) return true;
    const texts = tags.map((tag) => tag.source);
    return [operator?.argument ?? '', ...texts].some((text) => this.namesWritten(text));
  }

  private readsWritten({ variable, selector }: Target): boolean {
    if (variable.name !== 'TX') return false;
    if (selector?.kind === 'key') return this.writes.has(selector.key);
    if (selector?.kind !== 'regex') return true;
    return [...this.writes].some((name) => selector.regex.test(name));
  }

  /** Could the text's macros show one of the variables that are written? */
  private namesWritten(text: ByteString): boolean {
    const { names, lists } = txReads(text);
    return lists || names.some((name) => this.writes.has(name));
  }

  private changes(action: BoundAction): boolean {
    const { argument, effect } = action;
    if (effect?.kind === 'setTx') {
      const { literal, parts } = effect.name;
      if (this.namesWritten(effect.name.source) || this.namesWritten(effect.value.source)) {
        return true;
      }
      return literal === null ? this.concernsBeginning(parts[0]) : this.concerns(literal);
    }
    if (effect?.kind === 'isolated') return this.namesWritten(argument);
    const control = controlOf(action);
    return control === null || turns(control);
  }

  private concerns(name: string): boolean {
    if (this.readsAll || this.reads.has(name) || this.writes.has(name)) return true;
    return this.patterns.some((pattern) => pattern.test(name));
  }

  /** Could a name that begins so be one of them? */
  private concernsBeginning(part: MacroText['parts'][number] | undefined): boolean {
    if (this.readsAll || typeof part !== 'string' || part === '') return true;
    for (const name of [...this.reads, ...this.writes]) if (name.startsWith(part)) return true;
    return this.patterns.some(({ text }) => {
      const word = anchoredWord(text);
      return word === null || word.startsWith(part) || part.startsWith(word);
    });
  }
}

/** Does it change which rules run, or which of the targets read here they look at? */
function turns({ name, removal }: ControlSwitch): boolean {
  if (!removal) return name.startsWith('rule');
  const { variable } = removal;
  if (variable === undefined || variable === '') return true;
  return /^(?:TX$|REQBODY_|INSPECTION_LIMIT_|REQUEST_BODY_LENGTH$|MULTIPART_)/.test(variable);
}
