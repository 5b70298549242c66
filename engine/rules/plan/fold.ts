/**
 * Constant folding: which rules can never match under this policy, which always do, and which
 * TX values are the same for every transaction. Works on the linked program alone. Folding changes
 * cost, never results; every doubt keeps the rule as it is.
 */

import type { ByteString } from '../../../base/byte-string.ts';
import type { RulePorts } from '../transaction/ports.ts';
import { lowerBytes } from '../transaction/macro.ts';
import { Transaction } from '../transaction/transaction.ts';
import { selectUnicodeMap } from '../features/transformations/list.ts';
import type {
  MacroText,
  OperatorDefinition,
  Program,
  ProgramItem,
  Rule,
  Target,
} from '../transaction/types.ts';
import { noRequest } from '../transaction/no-request.ts';
import { livenessOf } from './liveness.ts';
import { type ControlSwitch, controlOf, linksOf, textsOf, txReads } from './written-reads.ts';

/** What is left to run, per phase, and the TX values every transaction starts with. */
export interface FoldedProgram {
  readonly phases: readonly FoldedPhase[];
  readonly txBase: ReadonlyMap<string, ByteString>;
  /** Rules that were decided while planning, for reports. */
  readonly foldedRules: number;
  /** The text that macros come out as in every transaction; null when that differs. */
  readonly constant: (text: MacroText) => ByteString | null;
}

/** All items of one phase, so that `skip` still counts them, and which of them may still run. */
export interface FoldedPhase {
  readonly items: readonly ProgramItem[];
  readonly kept: readonly boolean[];
  /** By item, and once more for the end: whether a rule that stood before it might have run. */
  readonly reached: readonly boolean[];
}

/** Folds `program`; cost linear in the number of rules and TX writes. */
export function foldProgram(program: Program, ports: RulePorts): FoldedProgram {
  const folder = new Folder(program, ports);
  const phases = program.phases.map((items, phase) => folder.foldPhase(items, phase));
  const constant = (text: MacroText): ByteString | null => folder.constant(text);
  return { phases, txBase: folder.base(), foldedRules: folder.foldedRules, constant };
}

type Outcome = 'keep' | 'never' | 'matched';

class Folder {
  foldedRules = 0;
  /** A transaction whose TX holds exactly the values known so far. */
  private readonly scratch = new Transaction();
  private readonly dirtyNames = new Set<string>();
  private readonly dirtyPrefixes: string[] = [];
  private allDirty = false;
  private readonly readNames = new Set<string>();
  private readsAll = false;
  /**
   * False once a kept rule may end or change the transaction: later writes are not for everyone.
   */
  private everyTransactionGetsHere = true;
  /** Markers that a kept rule may skip to: until then a rule may be passed over. */
  private readonly openSkips = new Set<string>();
  private skipCount = 0;
  private readonly removals: Removal[] = [];
  private readonly matchesLive: boolean;
  /** Tests of the names that rules list TX by. */
  private readonly listings: readonly ((name: string) => boolean)[];

  constructor(program: Program, ports: RulePorts) {
    selectUnicodeMap(program.settings.unicodeMap);
    this.scratch.begin(noRequest, program.settings, ports);
    this.listings = program.rules.flatMap(listingsOf);
    this.matchesLive = livenessOf(program.rules).matches;
    if (program.settings.engine === 'off') this.everyTransactionGetsHere = false;
  }

  base(): ReadonlyMap<string, ByteString> {
    return this.scratch.tx.snapshot();
  }

  foldPhase(items: readonly ProgramItem[], phase: number): FoldedPhase {
    this.openSkips.clear();
    this.skipCount = 0;
    let skipTo: string | null = null;
    let skipRules = 0;
    let unreached: string | null = null;
    const reached: boolean[] = [];
    const reaches = (): boolean => skipTo === null && skipRules <= 0 && unreached === null;
    const kept = items.map((item, index): boolean => {
      reached.push(reaches());
      if (item.kind === 'marker') {
        // After a marker that some rule may skip to, rules run again.
        if (unreached === item.name || this.openSkips.has(item.name)) unreached = null;
        this.openSkips.delete(item.name);
        if (skipTo === item.name) skipTo = null;
        return false;
      }
      const skipped = skipTo !== null || skipRules-- > 0 || unreached !== null;
      const outcome = skipped ? 'never' : this.decide(items, index, phase);
      const passable = this.skipCount > 0;
      if (passable) this.skipCount--;
      if (outcome === 'keep') {
        if (!passable && this.alwaysSkips(item)) unreached = item.skipAfter;
        this.noteKept(item);
        return true;
      }
      this.foldedRules++;
      if (outcome === 'matched') {
        skipTo = item.skipAfter;
        skipRules = item.skip;
      }
      return false;
    });
    if (!this.matchesLive) this.foldedRules += dropIdleSkips(items, kept);
    reached.push(reaches());
    return { items, kept, reached };
  }

  /** True for a rule that skips ahead whenever it is reached. */
  private alwaysSkips(rule: Rule): boolean {
    if (rule.skipAfter === null || rule.disruption.kind !== 'pass') return false;
    if (this.removals.some((removal) => mayRemove(removal, rule))) return false;
    for (let link: Rule | null = rule; link; link = link.next) {
      if (this.evaluateLink(link) !== true) return false;
      // The next link may read what it sets.
      if (link.next && (link.actions.length > 0 || link.capture)) return false;
    }
    return true;
  }

  /**
   * Rules decided 'never' or 'matched' disappear from the plan; a matched one's effects are in the
   * base.
   */
  private decide(items: readonly ProgramItem[], index: number, phase: number): Outcome {
    const rule = items[index] as Rule;
    for (let link: Rule | null = rule; link; link = link.next) {
      const result = this.evaluateLink(link);
      if (result === null) return this.endsUnseen(link) ? 'never' : 'keep';
      if (!result) return 'never';
      // A link's own actions run when it matches, even if the chain fails after it.
      if (link.next && (link.actions.length > 0 || link.capture)) return 'keep';
    }
    const region = skippedRegion(items, index, rule);
    // Passed over together with all it would skip, it makes no difference.
    const nested =
      rule.skipAfter !== null && !region.markers.some((name) => this.openSkips.has(name));
    if (this.mayBeRemoved([rule, ...region.rules]) || !this.effectsFoldable(rule, phase, nested))
      return 'keep';
    for (let link: Rule | null = rule; link; link = link.next) {
      for (const action of link.actions) action.run(this.scratch, link);
    }
    return 'matched';
  }

  /** True where a link after this one never matches, and none before it leaves a trace. */
  private endsUnseen(from: Rule): boolean {
    if (this.matchesLive) return false;
    for (let link = from; link.next; link = link.next) {
      const { operator, actions, capture } = link;
      if (actions.length > 0 || capture) return false;
      if (operator && !isTraceless(operator.definition)) return false;
      if (this.evaluateLink(link.next) === false) return true;
    }
    return false;
  }

  /** The link's result when it is the same for every transaction, else null. */
  private evaluateLink(link: Rule): boolean | null {
    if (link.operator === null) return true;
    if (link.multiMatch || link.exclusions.length > 0) return null;
    if (link.operator.definition.pure !== true) return null;
    if (link.operator.macro && !this.macroKnown(link.operator.macro)) return null;
    let matched = false;
    for (const target of link.targets) {
      const values = this.constantValues(target);
      if (values === null) return null;
      for (const value of values) {
        const transformed = link.transformations.reduce((v, t) => t.apply(v), value);
        if (link.operator.evaluate(transformed, this.scratch, null) !== link.negated)
          matched = true;
      }
    }
    if (matched && this.matchesLive) return null;
    return matched;
  }

  private constantValues(target: Target): readonly ByteString[] | null {
    if (target.variable.name !== 'TX' || target.selector?.kind !== 'key') return null;
    const name = target.selector.key;
    if (this.isDirty(name)) return null;
    const value = this.scratch.tx.get(name);
    if (target.count) return [value === undefined ? '0' : '1'];
    return value === undefined ? [] : [value];
  }

  private effectsFoldable(rule: Rule, phase: number, nested: boolean): boolean {
    if (this.skipCount > 0 || (this.openSkips.size > 0 && !nested)) return false;
    if (rule.log || rule.auditLog || rule.disruption.kind !== 'pass') return false;
    const writes: MacroText[] = [];
    for (let link: Rule | null = rule; link; link = link.next) {
      if (link.capture || link.severity >= 0) return false;
      // They run at each match, and may change what the next target reads.
      if (link.actions.length > 0 && link.targets.length > 1) return false;
      for (const action of link.actions) {
        if (action.effect?.kind !== 'setTx') return false;
        writes.push(action.effect.name);
        if (!this.macroKnown(action.effect.name) || !this.macroKnown(action.effect.value))
          return false;
      }
    }
    if (writes.length === 0) return true;
    if (this.openSkips.size > 0) return false;
    if (phase !== 1 || !this.everyTransactionGetsHere || this.readsAll) return false;
    return writes.every((name) => {
      const text = this.expandKnown(name);
      return !this.isDirty(text) && !this.readNames.has(text) && !this.comesLate(text);
    });
  }

  /** Would a rule that lists TX show the variable before one that was set earlier? */
  private comesLate(name: string): boolean {
    const vague = this.allDirty || this.dirtyPrefixes.length > 0;
    return this.listings.some((lists) => {
      return lists(name) && (vague || [...this.dirtyNames].some((earlier) => lists(earlier)));
    });
  }

  private noteKept(rule: Rule): void {
    if (rule.disruption.kind !== 'pass') this.everyTransactionGetsHere = false;
    if (rule.skipAfter !== null) this.openSkips.add(rule.skipAfter);
    if (rule.skip > 0) this.skipCount = Math.max(this.skipCount, rule.skip);
    for (let link: Rule | null = rule; link; link = link.next) {
      this.noteReads(link);
      if (link.capture) for (let i = 0; i <= 9; i++) this.dirtyNames.add(String(i));
      for (const action of link.actions) {
        if (action.effect?.kind === 'setTx') this.noteWrite(action.effect.name);
        else this.noteControl(controlOf(action));
      }
    }
  }

  /** Of all `ctl` forms only the engine switch and removals change which rules run. */
  private noteControl(control: ControlSwitch | null): void {
    if (control?.name === 'ruleengine') this.everyTransactionGetsHere = false;
    if (control?.removal) this.removals.push(control.removal);
  }

  private noteWrite(name: MacroText): void {
    if (name.literal !== null) {
      this.dirtyNames.add(lowerBytes(name.literal));
      return;
    }
    const head = name.parts[0];
    if (typeof head === 'string' && head !== '') this.dirtyPrefixes.push(lowerBytes(head));
    else this.allDirty = true;
  }

  private noteReads(link: Rule): void {
    for (const target of [...link.targets, ...link.exclusions]) {
      if (target.variable.name !== 'TX') continue;
      if (target.selector?.kind === 'key') this.readNames.add(target.selector.key);
      else this.readsAll = true;
    }
    for (const text of textsOf(link)) {
      const { names, lists } = txReads(text);
      for (const name of names) this.readNames.add(name);
      if (lists) this.readsAll = true;
    }
  }

  private macroKnown(text: MacroText): boolean {
    return text.parts.every(
      (part) =>
        typeof part === 'string' ||
        (part.variable.name === 'TX' && part.key !== '' && !part.regex && !this.isDirty(part.key)),
    );
  }

  /** Ask when all phases are folded. */
  constant(text: MacroText): ByteString | null {
    return this.macroKnown(text) ? this.expand(text) : null;
  }

  private expand(text: MacroText): ByteString {
    const parts = text.parts.map((part) =>
      typeof part === 'string' ? part : (this.scratch.tx.get(part.key) ?? ''),
    );
    return parts.join('');
  }

  private expandKnown(text: MacroText): string {
    return lowerBytes(this.expand(text));
  }

  private isDirty(name: string): boolean {
    // Operators write their own facts there.
    if (name.startsWith('msc_')) return true;
    if (this.allDirty || this.dirtyNames.has(name)) return true;
    return this.dirtyPrefixes.some((prefix) => name.startsWith(prefix));
  }

  /**
   * Could an earlier kept `ctl:ruleRemoveBy...` take the rule out and change what follows? Not when
   * the rule only skips and the same removal takes out everything that it would have skipped, too.
   */
  private mayBeRemoved(region: readonly Rule[]): boolean {
    const [rule] = region;
    const acts = linksOf(rule!).some(({ actions }) => actions.length > 0);
    return this.removals.some((removal) => {
      if (!mayRemove(removal, rule!)) return false;
      return acts || !region.every((one) => surelyRemoves(removal, one));
    });
  }
}

/** True for an operator that sets neither a flag nor a TX variable: `rx` notes its limit. */
function isTraceless({ name, pure }: OperatorDefinition): boolean {
  return pure === true && name !== 'rx';
}

/** Takes out rules that only pass over what does not run anyway; how many. */
function dropIdleSkips(items: readonly ProgramItem[], kept: boolean[]): number {
  let dropped = 0;
  // From the end: a region may hold others of them.
  for (let index = items.length - 1; index >= 0; index--) {
    const item = items[index]!;
    if (item.kind !== 'rule' || !kept[index] || !onlySkips(item)) continue;
    const end = regionEnd(items, index, item);
    if (kept.slice(index + 1, end).some(Boolean)) continue;
    kept[index] = false;
    dropped++;
  }
  return dropped;
}

function onlySkips(rule: Rule): boolean {
  if (rule.skipAfter === null && rule.skip === 0) return false;
  if (rule.log || rule.auditLog || rule.disruption.kind !== 'pass') return false;
  for (let link: Rule | null = rule; link; link = link.next) {
    if (link.actions.length > 0 || link.capture || link.severity >= 0) return false;
    if (link.operator && !isTraceless(link.operator.definition)) return false;
  }
  return true;
}

/** Index of the first item after what the rule passes over. */
function regionEnd(items: readonly ProgramItem[], index: number, rule: Rule): number {
  if (rule.skipAfter !== null) {
    const marker = items.findIndex((item, at) => {
      return at > index && item.kind === 'marker' && item.name === rule.skipAfter;
    });
    return marker < 0 ? items.length : marker;
  }
  let end = index + 1;
  for (let left = rule.skip; left > 0 && end < items.length; end++) {
    if (items[end]!.kind === 'rule') left--;
  }
  return end;
}

function listingsOf(link: Rule): ((name: string) => boolean)[] {
  if (textsOf(link).some((text) => txReads(text).lists)) return [(): boolean => true];
  return [...link.targets, ...link.exclusions].flatMap(({ variable, selector }) => {
    if (variable.name !== 'TX' || selector?.kind === 'key') return [];
    return selector?.kind === 'regex' ? (name): boolean => selector.regex.test(name) : () => true;
  });
}

/** What `rule` passes over when it matches: rules, and markers other than its target. */
function skippedRegion(
  items: readonly ProgramItem[],
  index: number,
  rule: Rule,
): { rules: Rule[]; markers: string[] } {
  const region = { rules: [] as Rule[], markers: [] as string[] };
  if (rule.skipAfter === null && rule.skip === 0) return region;
  for (const item of items.slice(index + 1)) {
    if (item.kind === 'rule') region.rules.push(item);
    else if (item.name === rule.skipAfter) return region;
    else region.markers.push(item.name);
  }
  return region;
}

type Removal = NonNullable<ControlSwitch['removal']>;

/** Tags and messages are compared for equality; macros in either may come out as anything. */
function mayRemove({ by, subject }: Removal, rule: Rule): boolean {
  if (by === 'id') {
    return !subject
      .trim()
      .split(/[\s,]+/)
      .every((range) => surelyOutside(range, rule.id));
  }
  if (by === 'msg') return rule.message?.source === subject;
  return rule.tags.some((tag) => tag.literal === null || tag.literal === subject);
}

function surelyOutside(range: string, id: number): boolean {
  const [from, to] = range.split('-').map(Number);
  return id < (from ?? NaN) || id > (to ?? from ?? NaN);
}

function surelyRemoves({ by, subject, variable }: Removal, rule: Rule): boolean {
  return by === 'tag' && variable === undefined && rule.tags.some((tag) => tag.literal === subject);
}
