/**
 * The phase memo: results of the rules that always run, as long as nothing else writes what they
 * read. They are computed once per plan and sequence of phases, by running the rules. A doubtful
 * rule is visited. Of a request only the way its body was parsed counts.
 */

import type { ByteString } from '../../../base/byte-string.ts';
import { ruleRunLimits } from '../../../base/rule-limits.ts';
import type { RulePorts } from '../transaction/ports.ts';
import { Transaction } from '../transaction/transaction.ts';
import type { Rule } from '../transaction/types.ts';
import { noRequest } from '../transaction/no-request.ts';
import { KNOWN } from '../plan/static-analysis.ts';
import type { PhasePlan, RulePlan } from '../plan/rule-plan.ts';
import { evaluateTargets } from './evaluate.ts';
import { skipTarget } from './skips.ts';

/** TX after a sequence of phases, and the phases that may follow. */
export interface MemoState {
  /** All TX variables. */
  readonly tx: ReadonlyMap<string, ByteString>;
  /** By phase and body. */
  readonly next: Map<number, MemoizedPhase>;
}

/** One phase in which nothing writes what memoized rules read. */
export interface MemoizedPhase {
  readonly before: MemoState;
  /** Bit set of the rules that are still visited. */
  readonly always: Uint32Array;
  /** What memoized rules set, in order. */
  readonly writes: readonly MemoizedWrite[];
  /** The same by name. */
  readonly writesOf: ReadonlyMap<string, readonly MemoizedWrite[]>;
  readonly after: MemoState;
}

/** What a memoized rule does to one TX variable. */
export interface MemoizedWrite {
  /** Index of the rule in its phase. */
  readonly item: number;
  readonly name: string;
  /** null where the rule removes it. */
  readonly value: ByteString | null;
}

/** How the body was parsed, where memoized rules may depend on it; else `unknown`. */
const bodies = ['unknown', '', 'URLENCODED', 'JSON', 'XML'] as const;
const emptyBody = 1;

/** The memoized phases of one plan, in one thread. */
export class PhaseMemo {
  readonly start: MemoState;
  private readonly plan: RulePlan;
  private readonly ports: RulePorts;
  private states = 1;

  constructor(plan: RulePlan, ports: RulePorts) {
    this.plan = plan;
    this.ports = { ...ports, collections: null };
    this.start = { tx: plan.txBase, next: new Map() };
  }

  /** The phase from `state` on; null when the memo is full. */
  phase(state: MemoState, number: number, tx: Transaction): MemoizedPhase | null {
    const body = this.plan.analysis.changesBody[number] === 1 ? 0 : bodyOf(tx);
    const key = number * bodies.length + body;
    const known = state.next.get(key);
    if (known !== undefined) return known;
    if (this.states >= ruleRunLimits.memoizedStatesMax) return null;
    this.states++;
    const made = computePhase(this.plan, this.ports, state, number, body);
    state.next.set(key, made);
    return made;
  }
}

function bodyOf(tx: Transaction): number {
  if (tx.bodyError !== 0 || tx.inboundDataError !== 0 || tx.multipart !== null) return 0;
  if (tx.limitsReached.length > 0) return 0;
  const name = tx.control.requestBodyProcessor || tx.bodyProcessor;
  if (name === '') return tx.requestBodyBytes === 0 ? emptyBody : 0;
  const at = (bodies as readonly string[]).indexOf(name);
  return at < 0 ? 0 : at;
}

function computePhase(
  plan: RulePlan,
  ports: RulePorts,
  before: MemoState,
  number: number,
  body: number,
): MemoizedPhase {
  const phase = plan.phases[number]!;
  const tx = new Transaction();
  const always = Uint32Array.from(phase.always);
  const writes: MemoizedWrite[] = [];
  let state = before.tx;
  const prepare = (): void => {
    tx.begin(noRequest, plan.settings, ports, state);
    tx.phase = number;
    if (body > 0) tx.control.requestBodyProcessor = bodies[body]!;
  };
  prepare();
  for (let at = 0; at < phase.items.length; at++) {
    if (!hasBit(always, at)) continue;
    const rule = phase.items[at] as Rule;
    const outcome = decide(plan, rule, tx, body);
    const next = outcome === 'matched' ? skipTarget(phase, at, rule) : at + 1;
    const passed = next > at + 1 ? rulesBetween(plan, phase, at + 1, next) : [];
    if (outcome === 'unknown' || passed === null) {
      prepare();
      continue;
    }
    for (const index of [at, ...passed]) clearBit(always, index);
    if (outcome === 'none') continue;
    const after = tx.tx.snapshot();
    writes.push(...changesBetween(state, after, at));
    state = after;
  }
  return {
    before,
    always,
    writes,
    writesOf: byName(writes),
    after: { tx: state, next: new Map() },
  };
}

/**
 * How a rule comes out: `none` leaves nothing, `matched` has done what it does to TX (a chain that
 * ends early, too). After `unknown` the transaction is to be prepared anew.
 */
function decide(
  plan: RulePlan,
  rule: Rule,
  tx: Transaction,
  body: number,
): 'none' | 'set' | 'matched' | 'unknown' {
  const { known, setsOnly, matchesUnread } = plan.analysis;
  const level = body === 0 ? KNOWN.tx : body === emptyBody ? KNOWN.length : KNOWN.body;
  const isKnown = ({ index }: Rule): boolean => known[index] !== KNOWN.no && known[index]! <= level;
  let acted = false;
  for (let link: Rule | null = rule; link; link = link.next) {
    if (!isKnown(link)) return 'unknown';
    tx.rule = rule;
    const matched = evaluateTargets(tx, link);
    if (tx.pcreLimitsExceeded !== 0) return 'unknown';
    if (!matched) return acted ? 'set' : 'none';
    if (setsOnly[link.index] !== 1 || !matchesUnread) return 'unknown';
    acted = true;
  }
  const leaves = rule.log || rule.auditLog || rule.severity >= 0;
  return leaves || rule.disruption.kind !== 'pass' ? 'unknown' : 'matched';
}

/** Rules that a skip passes over, where all of them always run; else null. */
function rulesBetween(
  plan: RulePlan,
  { items, always }: PhasePlan,
  from: number,
  to: number,
): number[] | null {
  const list: number[] = [];
  for (let at = from; at < to; at++) {
    const item = items[at]!;
    if (item.kind !== 'rule') continue;
    if (plan.targetIdOfRule[item.index]! >= 0) return null;
    if (hasBit(always, at)) list.push(at);
  }
  return list;
}

function changesBetween(
  before: ReadonlyMap<string, ByteString>,
  after: ReadonlyMap<string, ByteString>,
  item: number,
): MemoizedWrite[] {
  const list: MemoizedWrite[] = [];
  for (const [name, value] of after) {
    if (before.get(name) !== value) list.push({ item, name, value });
  }
  for (const name of before.keys()) if (!after.has(name)) list.push({ item, name, value: null });
  return list;
}

function byName(writes: readonly MemoizedWrite[]): Map<string, MemoizedWrite[]> {
  const found = new Map<string, MemoizedWrite[]>();
  for (const write of writes) {
    const known = found.get(write.name);
    if (known === undefined) found.set(write.name, [write]);
    else known.push(write);
  }
  return found;
}

function hasBit(bits: Uint32Array, index: number): boolean {
  return (bits[index >>> 5]! & (1 << (index & 31))) !== 0;
}

function clearBit(bits: Uint32Array, index: number): void {
  bits[index >>> 5]! &= ~(1 << (index & 31));
}
