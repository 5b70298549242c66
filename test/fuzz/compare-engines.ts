/**
 * Compares the fast path with the oracle over one exchange. Both run it, and every observable
 * result must be the same. What is observable is seen from the oracle's run; the fast path has no
 * say in it.
 */

import { isDeepStrictEqual } from 'node:util';
import { systemClock } from '../../base/clock.ts';
import { createLogger } from '../../base/log.ts';
import type { PhaseResult } from '../../engine/contract/inspection-failure.ts';
import { type MatchedRule, passVerdict } from '../../engine/contract/verdict.ts';
import type { Verdict } from '../../engine/contract/verdict.ts';
import type { RulePorts } from '../../engine/rules/transaction/ports.ts';
import { Transaction } from '../../engine/rules/transaction/transaction.ts';
import type { Program } from '../../engine/rules/transaction/types.ts';
import {
  evaluateTransaction,
  type Exchange,
  type OracleResult,
} from '../../engine/rules/oracle/evaluate.ts';
import type { DatabaseCache } from '../../engine/rules/plan/databases.ts';
import { buildPlan } from '../../engine/rules/plan/build-plan.ts';
import { IdleTransactions } from '../../engine/rules/run/idle-transactions.ts';
import { PolicyEngine, type RuleSession } from '../../engine/rules/run/policy-engine.ts';
import { type ForeignReads, watchForeignReads } from './foreign-reads.ts';

/** Ports that answer nothing; one fixed clock, so that TIME and DURATION agree. */
export const fixedPorts: RulePorts = {
  clock: { ...systemClock, nowMs: () => 1_700_000_000_000, monotonicUs: () => 0 },
  collections: null,
  geo: null,
  rbl: null,
  env: new Map(),
};

/** Keeps nothing: for rule sets that are seen once. */
export const noCache: DatabaseCache = { get: () => null, put: () => undefined };

/** The fast path for `program`. Cost: compiles what `cache` does not have. */
export function fastEngine(program: Program, cache: DatabaseCache = noCache): PolicyEngine {
  const log = createLogger('fuzz', 'error');
  const plan = buildPlan(program, { cache, log, ports: fixedPorts });
  const transactions = new WatchedTransactions();
  const engine = new PolicyEngine(plan, fixedPorts, transactions);
  transactionsOf.set(engine, transactions);
  return engine;
}

/** Shows each transaction as its request left it, before it forgets it. */
class WatchedTransactions extends IdleTransactions {
  onEnd: (transaction: Transaction) => void = () => undefined;

  override giveBack(transaction: Transaction): void {
    this.onEnd(transaction);
    super.giveBack(transaction);
  }
}

const transactionsOf = new WeakMap<PolicyEngine, WatchedTransactions>();

/** The results of a transaction that must not depend on the engine that ran it. */
interface Outcome {
  readonly phaseVerdicts: readonly Verdict[];
  /** What detection-only held back; null when nothing. */
  readonly withheld: Verdict | null;
  readonly matchedRules: readonly unknown[];
  readonly variables: readonly (readonly [string, string])[];
  readonly highestSeverity: number;
  readonly inboundScore: number;
  readonly outboundScore: number;
  /** MATCHED_VAR and its name, where some rule may read them. */
  readonly lastMatch: readonly unknown[];
  readonly leftBehind: LeftBehind;
}

/** What rules left in the transaction beside TX; not what concerns audit logs, which none reads. */
interface LeftBehind {
  readonly environment: readonly unknown[];
  readonly collections: readonly unknown[];
  readonly hidden: readonly string[];
  readonly switches: readonly unknown[];
}

/**
 * The differences between oracle and fast path, one line each; empty when they agree. `onResult`
 * gets what the oracle found.
 */
export function compareEngines(
  program: Program,
  engine: PolicyEngine,
  exchange: Exchange,
  onResult: (result: OracleResult) => void = () => undefined,
): string[] {
  const { outcome: slow, reads, result } = runOracle(program, exchange);
  const fast = runFast(engine, exchange, reads);
  const differences = (Object.keys(slow) as (keyof Outcome)[])
    .filter((name) => !isDeepStrictEqual(slow[name], fast[name]))
    .map((name) => `${name}: ${describeDifference(slow[name], fast[name])}`);
  // Last: it may read the transaction, whose reads are watched.
  onResult(result);
  return differences;
}

function runOracle(
  program: Program,
  exchange: Exchange,
): { outcome: Outcome; reads: ForeignReads; result: OracleResult } {
  const transaction = new Transaction();
  const watch = watchForeignReads(transaction);
  const result = evaluateTransaction(program, exchange, fixedPorts, watch.trace, transaction);
  const { variables } = result;
  const reads = watch.reads();
  const outcome = {
    phaseVerdicts: result.phaseVerdicts,
    withheld: result.verdict.action === 'pass' ? beforeLogging(result.detected) : null,
    matchedRules: reported(result.matchedRules, reads),
    variables: observed(variables, reads),
    highestSeverity: transaction.highestSeverity,
    inboundScore: score(variables, 'blocking_inbound_anomaly_score', 'anomaly_score'),
    outboundScore: score(variables, 'blocking_outbound_anomaly_score', 'outbound_anomaly_score'),
    lastMatch: lastMatch(transaction, reads),
    leftBehind: leftIn(transaction),
  };
  return { outcome, reads, result };
}

/** The last match, where some rule read what another had matched. */
function lastMatch(tx: Transaction, { matches }: ForeignReads): readonly unknown[] {
  return matches ? [tx.matchedVariable, tx.matchedVariableName] : [];
}

/** Rules of the logging phase have nothing left to withhold. */
function beforeLogging(verdict: Verdict | null): Verdict | null {
  return verdict !== null && 'phase' in verdict && verdict.phase === 5 ? null : verdict;
}

function leftIn(tx: Transaction): LeftBehind {
  const { requestBodyProcessor, removedIds, removedTags, removedTargets } = tx.control;
  const { engine, removedMessages } = tx.control;
  return {
    environment: [...tx.env],
    collections: [...tx.persistent].map(([name, { key, values }]) => [name, key, [...values]]),
    hidden: [...tx.sanitised],
    switches: [
      engine,
      requestBodyProcessor,
      [...removedIds],
      [...removedTags],
      [...removedMessages],
      removedTargets.length,
    ],
  };
}

/** Phase by phase as the front drives a session: after a verdict only `finish` follows. */
function runFast(engine: PolicyEngine, exchange: Exchange, reads: ForeignReads): Outcome {
  const session = engine.open(exchange.request);
  const phaseVerdicts: Verdict[] = [passVerdict];
  for (const step of steps(session, exchange)) {
    const result = step();
    if (result.action === 'failed') throw new Error(`inspection failed: ${result.reason}`);
    phaseVerdicts.push(result);
  }
  while (phaseVerdicts.length < 5) phaseVerdicts.push(passVerdict);
  const ends: ReturnType<typeof endOf>[] = [];
  transactionsOf.get(engine)!.onEnd = (transaction) => ends.push(endOf(transaction, reads));
  const record = session.finish();
  return {
    phaseVerdicts,
    withheld: record.detectionOnly ? record.verdict : null,
    matchedRules: reported(record.matchedRules, reads),
    inboundScore: record.inboundScore,
    outboundScore: record.outboundScore,
    ...ends[0]!,
  };
}

/** What a transaction holds after phase 5. */
function endOf(transaction: Transaction, reads: ForeignReads) {
  return {
    variables: observed(transaction.tx.snapshot(), reads),
    highestSeverity: transaction.highestSeverity,
    lastMatch: lastMatch(transaction, reads),
    leftBehind: leftIn(transaction),
  };
}

function* steps(session: RuleSession, exchange: Exchange): Generator<() => PhaseResult> {
  let verdict: PhaseResult = passVerdict;
  const noted = (step: () => PhaseResult) => (): PhaseResult => (verdict = step());
  yield noted(() => session.requestHead());
  if (verdict.action !== 'pass') return;
  const body = session.bodyNeed.inspect ? exchange.requestBody : null;
  yield noted(() => session.requestBody(body));
  const { response } = exchange;
  if (verdict.action !== 'pass' || response === null) return;
  yield noted(() => session.responseHead(response));
  if (verdict.action !== 'pass') return;
  const answer = session.responseNeed.inspect ? exchange.responseBody : null;
  yield noted(() => session.responseBody(answer));
}

/**
 * The matched rules; without the texts that show another rule's captures, which need not be made
 * for them. Source: CRS 921250 and 941181 log TX.0 and capture nothing.
 */
function reported(matched: readonly MatchedRule[], { loggedBy }: ForeignReads): readonly unknown[] {
  return matched.map((one) => (loggedBy.has(one.ruleId) ? { ...one, message: '', data: '' } : one));
}

/** The variables in order of their names, without those that no other rule read. */
function observed(
  variables: ReadonlyMap<string, string>,
  { captures, names, copies }: ForeignReads,
): [string, string][] {
  return [...variables]
    .filter(([name]) => captures || !/^\d$/.test(name))
    .filter(([name]) => names.has(name) || !copies.has(name))
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

function score(variables: ReadonlyMap<string, string>, name: string, fallback: string): number {
  return Number.parseInt(variables.get(name) ?? variables.get(fallback) ?? '0', 10) || 0;
}

/** Elements that only one side has, for lists; both sides for all else. */
function describeDifference(slow: unknown, fast: unknown): string {
  if (!Array.isArray(slow) || !Array.isArray(fast)) return sides(slow, fast);
  const onlyIn = (list: unknown[], other: unknown[]): unknown[] =>
    list.filter((one) => !other.some((two) => isDeepStrictEqual(one, two)));
  return sides(onlyIn(slow, fast), onlyIn(fast, slow));
}

function sides(slow: unknown, fast: unknown): string {
  return `oracle ${JSON.stringify(slow)?.slice(0, 1500)} / fast ${JSON.stringify(fast)?.slice(0, 1500)}`;
}
