/**
 * Static analysis of which rules can be memoized: those that run in every transaction and read
 * nothing but TX and how the body was parsed. As long as no other rule changes what they read,
 * their results are the same each time.
 */

import type { ByteString } from '../../../base/byte-string.ts';
import type {
  BoundAction,
  MacroText,
  ProgramItem,
  Rule,
  Target,
  VariableDefinition,
} from '../transaction/types.ts';
import { type ControlSwitch, controlOf, textsOf, txReads } from './written-reads.ts';

/** The inputs of a link that a phase memo knows. */
export const KNOWN = {
  no: 0,
  /** It reads TX alone. */
  tx: 1,
  /** And of how the body was read. */
  body: 2,
  /** And of how long it is, which is known where there is none. */
  length: 3,
} as const;

/** By rule index, chain links included. */
export interface StaticAnalysis {
  /** One of `KNOWN`. */
  readonly known: Uint8Array;
  /** 1 where a match does nothing but set TX variables to texts that are known. */
  readonly setsOnly: Uint8Array;
  /** 1 where a match may change which rules run or which targets memoized rules look at. */
  readonly changesRules: Uint8Array;
  /** TX variables that memoized rules set. */
  readonly written: ReadonlySet<string>;
  /** `written`, and the TX variables that memoized rules read. */
  readonly used: ReadonlySet<string>;
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

/** Finds the rules that can be memoized. Cost: linear in rules times names that are read. */
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
    changesRules: Uint8Array.from(rules, (rule) => Number(rule.actions.some(changesRules))),
    written: shared.writes,
    used: new Set([...shared.reads, ...shared.writes]),
    changesBody: Uint8Array.from(phases, ({ items }) => Number(items.some(changesProcessor))),
    matchesUnread,
  };
}

const bodyFacts: ReadonlySet<string> = new Set([
  'REQBODY_PROCESSOR',
  'REQBODY_ERROR',
  'REQBODY_ERROR_MSG',
  'REQBODY_PROCESSOR_ERROR',
  'REQBODY_PROCESSOR_ERROR_MSG',
  'INBOUND_DATA_ERROR',
  'INSPECTION_LIMIT_ERROR',
  'INSPECTION_LIMIT_ERROR_MSG',
]);

/** What a body without errors and parts leaves as it was. */
function isBodyFact({ name, shape, rows }: VariableDefinition): boolean {
  return bodyFacts.has(name) || (name.startsWith('MULTIPART_') && shape === 'scalar' && !rows);
}

function knownOf({ operator, targets }: Rule): number {
  if (operator === null) return KNOWN.tx;
  if (operator.definition.pure !== true) return KNOWN.no;
  if (operator.macro && !ofTxAlone(operator.macro)) return KNOWN.no;
  let most: number = KNOWN.tx;
  for (const { variable, selector } of targets) {
    if (variable.name === 'TX') {
      // A list shows names that other rules make.
      if (selector?.kind !== 'key') return KNOWN.no;
      continue;
    }
    if (selector?.kind === 'xpath') return KNOWN.no;
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

/** TX variables that memoized rules read or write. */
class SharedNames {
  readonly reads = new Set<string>();
  readonly writes = new Set<string>();

  addAsked({ targets, operator }: Rule): void {
    for (const { variable, selector } of targets) {
      if (variable.name === 'TX' && selector?.kind === 'key') this.reads.add(selector.key);
    }
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

  private addMacro({ parts }: MacroText): void {
    for (const part of parts) if (typeof part !== 'string') this.reads.add(part.key);
  }

  private readsWritten({ variable, selector }: Target): boolean {
    if (variable.name !== 'TX') return false;
    if (selector?.kind !== 'regex') return true;
    return [...this.writes].some((name) => selector.regex.test(name));
  }
}

/** Unknown actions may do anything. */
function changesRules(action: BoundAction): boolean {
  if (action.effect !== undefined) return false;
  const control = controlOf(action);
  return control === null || turns(control);
}

/** Does it change which rules run, or which of the targets read here they look at? */
function turns({ name, removal }: ControlSwitch): boolean {
  if (!removal) return name.startsWith('rule');
  const { variable } = removal;
  if (variable === undefined || variable === '') return true;
  return /^(?:TX$|REQBODY_|INSPECTION_LIMIT_|REQUEST_BODY_LENGTH$|MULTIPART_)/.test(variable);
}
