/**
 * Owns the run of one transaction through a plan, phase by phase: which rules are visited in which
 * order, skips, allows and disruptive outcomes. Reused between transactions; allocates per match,
 * never per rule.
 */

import { passVerdict } from '../../contract/verdict.ts';
import type { Verdict } from '../../contract/verdict.ts';
import { expandMacro } from '../catalog/macro.ts';
import { finishMatch } from '../catalog/matching.ts';
import { isRuleRemoved } from '../catalog/removal.ts';
import { Transaction } from '../catalog/transaction.ts';
import type { Rule } from '../catalog/types.ts';
import type { PhasePlan, RulePlan } from '../plan/rule-plan.ts';
import { linkEvaluator, type LinkEvaluator } from './direct.ts';
import { evaluateCandidate } from './evaluate.ts';
import { Prescan } from './prescan.ts';

/** How far an `allow` reaches. */
type Allowed = 'none' | 'request' | 'all';

/** The evaluators of all links, for all runners of a plan. */
export function linkEvaluators(plan: RulePlan): readonly LinkEvaluator[] {
  const evaluators: LinkEvaluator[] = [];
  for (const { items } of plan.phases) {
    for (const item of items) {
      if (item.kind !== 'rule') continue;
      const quiet = plan.quiet[item.index] === 1;
      for (let link: Rule | null = item; link; link = link.next) {
        evaluators[link.index] = linkEvaluator(link, quiet);
      }
    }
  }
  return evaluators;
}

/** One transaction on its way through the phases; reused from request to request. */
export class Runner {
  readonly tx = new Transaction();
  readonly prescan: Prescan;
  /** The first disruptive outcome that detection-only mode held back; null when none was. */
  withheld: Verdict | null = null;
  private readonly plan: RulePlan;
  /** By rule index. */
  private readonly links: readonly LinkEvaluator[];
  private allowed: Allowed = 'none';
  private interrupted = false;

  constructor(plan: RulePlan, links = linkEvaluators(plan)) {
    this.plan = plan;
    this.links = links;
    this.prescan = new Prescan(plan);
  }

  /** Call after `tx.begin`. */
  reset(): void {
    this.prescan.reset();
    this.allowed = 'none';
    this.interrupted = false;
    this.withheld = null;
  }

  /** Runs one phase over the values loaded so far; phase 5 runs after an interruption too. */
  runPhase(number: number): Verdict {
    const { tx } = this;
    if (tx.control.engine === 'off') return passVerdict;
    if (number !== 5 && (this.interrupted || this.passesOver(number))) return passVerdict;
    // Phase 5, too: an `allow` passes over phases whose values were loaded all the same.
    tx.checkDeadline();
    this.prescan.scan(tx);
    tx.checkDeadline();
    tx.phase = number;
    return this.visit(this.plan.phases[number]!, this.prescan.bits[number]!);
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
        if (!this.runRule(rule)) {
          if (this.tx.control.engine === 'off') return passVerdict;
          continue;
        }
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
    if (tx.matchedVariables.length > 0) tx.matchedVariables = [];
    const slot = this.plan.slotOfRule[rule.index]!;
    const matched =
      slot >= 0 && this.plan.onRows[slot] === 1
        ? evaluateCandidate(tx, rule, slot, this.prescan, this.plan.hitIsMatch[slot] === 1)
        : this.links[rule.index]!(tx);
    if (!matched) return false;
    for (let link = rule.next; link; link = link.next) {
      if (!this.links[link.index]!(tx)) return false;
    }
    finishMatch(tx, rule);
    return true;
  }

  /** The verdict of a matched rule; null when the phase goes on. */
  private disrupt(rule: Rule): Verdict | null {
    const { disruption } = rule;
    if (disruption.kind === 'pass' || this.tx.phase === 5) return null;
    if (this.tx.control.engine !== 'on') {
      if (isFinal(rule)) this.withheld ??= interruption(rule, this.tx);
      return null;
    }
    switch (disruption.kind) {
      case 'allow':
        this.allowed = 'all';
        return passVerdict;
      case 'allowRequest':
        // Of no effect behind the request's own phases.
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

/** True when the rule would answer the request; `allow` only ends its inspection. */
function isFinal({ disruption: { kind } }: Rule): boolean {
  return kind === 'deny' || kind === 'drop' || kind === 'redirect';
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

/** Index of the first item that runs after the skip. */
function skipTarget(phase: PhasePlan, index: number, rule: Rule): number {
  if (rule.skipAfter !== null) {
    const next = phase.markers.get(rule.skipAfter)?.find((position) => position > index);
    return next ?? phase.items.length;
  }
  let next = index + 1;
  for (let left = rule.skip; left > 0 && next < phase.items.length; next++) {
    if (phase.items[next]!.kind === 'rule') left--;
  }
  return next;
}

function clearBelow(bits: Uint32Array, index: number): void {
  const word = index >>> 5;
  bits.fill(0, 0, Math.min(word, bits.length));
  if (word < bits.length) bits[word]! &= ~((1 << (index & 31)) - 1);
}
