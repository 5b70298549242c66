/**
 * The run of one transaction through a plan, phase by phase: which rules are visited in which
 * order, skips, allows and disruptive outcomes. Reused between transactions; allocates per match,
 * never per rule.
 */

import type { ByteString } from '../../../base/byte-string.ts';
import type { Steps } from '../../../base/steps.ts';
import type { Decision } from '../../contract/decision.ts';
import { passVerdict } from '../../contract/verdict.ts';
import type { Verdict } from '../../contract/verdict.ts';
import { expandMacro } from '../transaction/macro.ts';
import { finishMatch } from '../transaction/matching.ts';
import { isRuleRemoved } from '../transaction/removal.ts';
import { pcreSearches, type Transaction } from '../transaction/transaction.ts';
import type { DeferredTx } from '../transaction/tx-collection.ts';
import type { Rule } from '../transaction/types.ts';
import type { PhasePlan, RulePlan } from '../plan/rule-plan.ts';
import { linkEvaluator, type LinkEvaluator } from './specialized-evaluators.ts';
import { evaluateCandidate } from './evaluate.ts';
import type { MemoizedPhase, MemoizedWrite, MemoState, PhaseMemo } from './phase-memo.ts';
import { Prescan } from './prescan.ts';
import { clearBelow, skipTarget } from './skips.ts';

const noWrites: readonly MemoizedWrite[] = [];

/** How far an `allow` reaches. */
type Allowed = 'none' | 'request' | 'all';

/**
 * The evaluators of a plan's links, for all its runners; each is made when it is first asked for:
 * most rules of most policies never are.
 */
export class LinkEvaluators {
  private readonly plan: RulePlan;
  /** By rule index. */
  private readonly made: (LinkEvaluator | undefined)[];

  constructor(plan: RulePlan) {
    this.plan = plan;
    this.made = Array.from(plan.targetIdOfRule, () => undefined);
  }

  /** True when `link`, of the chain that `first` begins, matches. */
  evaluate(link: Rule, first: Rule, tx: Transaction): boolean {
    const known = this.made[link.index];
    return known === undefined ? this.make(link, first)(tx) : known(tx);
  }

  private make(link: Rule, first: Rule): LinkEvaluator {
    const made = linkEvaluator(link, this.plan.unobservedMatch[first.index] === 1);
    this.made[link.index] = made;
    return made;
  }
}

/** One transaction on its way through the phases; reused from request to request. */
export class Runner implements DeferredTx {
  /** Of the request that runs; between requests it may be another runner's. */
  tx!: Transaction;
  readonly prescan: Prescan;
  readonly written: ReadonlySet<string>;
  readonly used: ReadonlySet<string>;
  /** The first disruptive outcome that detection-only mode held back; null when none was. */
  withheld: Verdict | null = null;
  private readonly plan: RulePlan;
  private readonly links: LinkEvaluators;
  private readonly memo: PhaseMemo;
  /** What the anomaly score would have done, where it does not decide alone. */
  anomaly: Verdict | null = null;
  /** TX before the phase that runs, while it is deferred; null once it is materialized. */
  private memoState: MemoState | null = null;
  /** The memo of the phase that runs. */
  private memoizedPhase: MemoizedPhase | null = null;
  /** Index of the rule that is visited. */
  private at = 0;
  private allowed: Allowed = 'none';
  private interrupted = false;

  constructor(plan: RulePlan, links: LinkEvaluators, memo: PhaseMemo) {
    this.plan = plan;
    this.links = links;
    this.memo = memo;
    this.written = plan.analysis.written;
    this.used = plan.analysis.used;
    this.prescan = new Prescan(plan);
  }

  /** Call after `tx` was set and begun. */
  reset(): void {
    this.prescan.reset();
    this.memoState = this.memo.start;
    this.memoizedPhase = null;
    this.tx.tx.defer(this);
    this.allowed = 'none';
    this.interrupted = false;
    this.withheld = null;
    this.anomaly = null;
  }

  /** Runs one phase over the values loaded so far; phase 5 runs after an interruption too. */
  runPhase(number: number): Verdict {
    if (!this.runs(number)) return passVerdict;
    this.prescan.scan(this.tx);
    return this.visitPhase(number);
  }

  /** The same in steps of one scan each, of some `bytes`. */
  *runPhaseInSteps(number: number, bytes: number): Steps<Verdict> {
    if (!this.runs(number)) return passVerdict;
    while (!this.prescan.scanSome(this.tx, bytes)) {
      yield;
      this.tx.checkDeadline();
    }
    return this.visitPhase(number);
  }

  /** False where rules had the content passed over. */
  get inspectsContent(): boolean {
    return this.tx.control.engine !== 'off' && !this.interrupted && !this.passesOver(2);
  }

  /** What a verdict that no rule gave leads to: nothing where the engine only records. */
  enforce(verdict: Verdict): Verdict {
    if (this.tx.control.engine !== 'on') {
      this.withheld ??= verdict;
      return passVerdict;
    }
    this.interrupted = true;
    this.tx.answeredStatus = verdict.status;
    return verdict;
  }

  private runs(number: number): boolean {
    if (this.tx.control.engine === 'off') return false;
    if (number !== 5 && (this.interrupted || this.passesOver(number))) return false;
    // Phase 5, too: an `allow` skips phases whose values were still loaded.
    this.tx.checkDeadline();
    return true;
  }

  /** Visits the rules of a phase whose values were scanned. */
  private visitPhase(number: number): Verdict {
    const { tx } = this;
    tx.checkDeadline();
    const phase = this.plan.phases[number]!;
    const bits = this.prescan.bits[number]!;
    addBits(bits, this.enterPhase(number)?.always ?? phase.always);
    dropBits(bits, this.prescan.ruledOut[number]!);
    tx.phase = number;
    const verdict = this.visit(phase, bits);
    // Still there: every rule of the phase had its turn.
    if (this.memoizedPhase !== null) this.memoState = this.memoizedPhase.after;
    this.memoizedPhase = null;
    return verdict;
  }

  /** A variable of TX as memoized rules have left it so far. */
  read(name: string): ByteString | undefined {
    const { memoState, memoizedPhase, at } = this;
    const writes = memoizedPhase?.writesOf.get(name) ?? noWrites;
    for (let last = writes.length - 1; last >= 0; last--) {
      const { item, value } = writes[last]!;
      if (item < at) return value ?? undefined;
    }
    return memoState?.tx.get(name);
  }

  /** Applies to TX what memoized rules have set so far; the later ones are visited. */
  materialize(): void {
    const { memoState, memoizedPhase, at, tx } = this;
    if (memoState === null) return;
    this.memoState = null;
    this.memoizedPhase = null;
    tx.tx.settle(memoState.tx);
    if (memoizedPhase === null) return;
    for (const { item, name, value } of memoizedPhase.writes) {
      if (item >= at) break;
      if (value === null) tx.tx.delete(name);
      else tx.tx.set(name, value);
    }
    const later = Uint32Array.from(this.plan.phases[tx.phase]!.always);
    memoizedPhase.always.forEach((word, i) => (later[i]! &= ~word));
    clearBelow(later, at + 1);
    addBits(this.prescan.bits[tx.phase]!, later);
  }

  private enterPhase(number: number): MemoizedPhase | null {
    // The phase before was broken off.
    if (this.memoizedPhase !== null) this.materialize();
    if (this.memoState === null) return null;
    this.memoizedPhase = this.memo.phase(this.memoState, number, this.tx);
    if (this.memoizedPhase === null) this.materialize();
    return this.memoizedPhase;
  }

  /** After a match that may change which rules run or which targets they look at. */
  private afterMatch(link: Rule): void {
    if (this.memoState === null) return;
    if (this.plan.analysis.changesRules[link.index] === 1) this.materialize();
  }

  private passesOver(phase: number): boolean {
    return this.allowed === 'all' || (this.allowed === 'request' && phase <= 2);
  }

  private visit(phase: PhasePlan, bits: Uint32Array): Verdict {
    for (let word = 0; word < bits.length; word++) {
      while (bits[word] !== 0) {
        const low = bits[word]! & -bits[word]!;
        bits[word]! ^= low;
        const index = (word << 5) | (31 - Math.clz32(low));
        const rule = phase.items[index] as Rule;
        this.at = index;
        const { stopped } = pcreSearches;
        const matched = this.runRule(rule);
        // Those of its selectors, too.
        if (pcreSearches.stopped !== stopped) this.tx.notePcreLimit(rule.id);
        // Operators reach limits, too, which later rules ask for.
        const { pcreLimitsExceeded, limitsReached } = this.tx;
        if (pcreLimitsExceeded !== 0 || limitsReached.length > 0) this.materialize();
        if (!matched) {
          if (this.tx.control.engine === 'off') return passVerdict;
          continue;
        }
        if (endsOrSkips(rule)) this.materialize();
        const verdict = this.disrupt(rule);
        if (verdict !== null) return verdict;
        if (this.tx.control.engine === 'off') return passVerdict;
        if (rule.skip > 0 || rule.skipAfter !== null) {
          const next = skipTarget(phase, index, rule);
          clearBelow(bits, next);
          word = Math.min(next >>> 5, bits.length) - 1;
          break;
        }
      }
    }
    return passVerdict;
  }

  /** True when the rule and its whole chain matched. */
  private runRule(rule: Rule): boolean {
    const { tx } = this;
    tx.spend();
    if (isRuleRemoved(rule, tx)) return false;
    tx.rule = rule;
    tx.scoreAdded = 0;
    if (tx.matchedVariables.length > 0) tx.matchedVariables = [];
    const targetId = this.plan.targetIdOfRule[rule.index]!;
    const matched =
      targetId >= 0 && this.plan.onRows[targetId] === 1
        ? evaluateCandidate(tx, rule, targetId, this.prescan, this.plan)
        : this.links.evaluate(rule, rule, tx);
    if (!matched) return false;
    this.afterMatch(rule);
    for (let link = rule.next; link; link = link.next) {
      if (!this.links.evaluate(link, rule, tx)) return false;
      this.afterMatch(link);
    }
    finishMatch(tx, rule);
    return true;
  }

  /** The verdict of a matched rule; null when the phase continues. */
  private disrupt(rule: Rule): Verdict | null {
    const { disruption } = rule;
    if (disruption.kind === 'pass' || this.tx.phase === 5) return null;
    if (waitsForScore(rule.id, this.plan.settings.decision)) {
      this.anomaly ??= interruption(rule, this.tx);
      return null;
    }
    if (this.tx.control.engine !== 'on') {
      if (isFinal(rule)) this.withheld ??= interruption(rule, this.tx);
      return null;
    }
    switch (disruption.kind) {
      case 'allow':
        this.allowed = 'all';
        return passVerdict;
      case 'allowRequest':
        // Of no effect after the request's own phases.
        if (this.tx.phase > 2) return null;
        this.allowed = 'request';
        return passVerdict;
      case 'allowPhase':
        return passVerdict;
      case 'redirect':
      case 'deny':
      case 'drop': {
        this.interrupted = true;
        const verdict = interruption(rule, this.tx);
        this.tx.answeredStatus = verdict.status;
        return verdict;
      }
    }
  }
}

/** True when more than the next rule may follow from its match. */
function endsOrSkips(rule: Rule): boolean {
  return rule.disruption.kind !== 'pass' || rule.skip > 0 || rule.skipAfter !== null;
}

function dropBits(bits: Uint32Array, fewer: Uint32Array): void {
  for (let i = 0; i < bits.length; i++) bits[i]! &= ~fewer[i]!;
}

function addBits(bits: Uint32Array, more: Uint32Array): void {
  for (let i = 0; i < bits.length; i++) bits[i]! |= more[i]!;
}

/** True when the rule would answer the request; `allow` only ends its inspection. */
function isFinal({ disruption: { kind } }: Rule): boolean {
  return kind === 'deny' || kind === 'drop' || kind === 'redirect';
}

/**
 * Rules that compare the anomaly score of requests: those of CRS, and the one that blocks early
 * under CRS 3. Nothing else judges answers.
 */
const requestScoreRules = [949_110, 949_111, 199_254];

/** True where the score of detection has a say in what the anomaly score leads to. */
function waitsForScore(ruleId: number, decision: Decision): boolean {
  return decision !== 'crs' && requestScoreRules.includes(ruleId);
}

function interruption(rule: Rule, tx: Transaction): Verdict {
  const { kind, status, location } = rule.disruption;
  const base = { ruleId: rule.id, phase: tx.phase };
  if (kind === 'drop') return { action: 'drop', status: 0, ...base };
  if (kind === 'redirect' && location) {
    return { action: 'redirect', status, location: expandMacro(location, tx), ...base };
  }
  return { action: 'block', status, ...base };
}
