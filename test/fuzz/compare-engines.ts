/**
 * Owns the comparison of the fast path with the oracle over one exchange: both run it, and every
 * observable result must be the same. Generates nothing.
 */

import { isDeepStrictEqual } from 'node:util';
import { systemClock } from '../../engine/base/clock.ts';
import { createLogger } from '../../engine/base/log.ts';
import { passVerdict, type Verdict } from '../../engine/contract/verdict.ts';
import type { RulePorts } from '../../engine/rules/catalog/ports.ts';
import type { Program } from '../../engine/rules/catalog/types.ts';
import { evaluateTransaction, type Exchange } from '../../engine/rules/oracle/evaluate.ts';
import type { DatabaseCache } from '../../engine/rules/plan/databases.ts';
import { buildPlan } from '../../engine/rules/plan/rule-plan.ts';
import { PolicyEngine, type RuleSession } from '../../engine/rules/run/policy-engine.ts';

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
  return new PolicyEngine(buildPlan(program, { cache, log, ports: fixedPorts }), fixedPorts);
}

/** What of a transaction must not depend on the engine that ran it. */
interface Outcome {
  readonly phaseVerdicts: readonly Verdict[];
  readonly matchedRules: readonly unknown[];
  readonly variables: readonly (readonly [string, string])[];
  readonly highestSeverity: number;
  readonly inboundScore: number;
  readonly outboundScore: number;
  /** MATCHED_VAR, its name and MATCHED_VARS, where no rule was decided while planning. */
  readonly lastMatch: readonly unknown[];
}

/** The differences between oracle and fast path, one line each; empty when they agree. */
export function compareEngines(
  program: Program,
  engine: PolicyEngine,
  exchange: Exchange,
): string[] {
  const folded = engine.plan.facts.foldedRules > 0;
  const slow = runOracle(program, exchange, folded);
  const fast = runFast(engine, exchange, folded);
  return (Object.keys(slow) as (keyof Outcome)[])
    .filter((name) => !isDeepStrictEqual(slow[name], fast[name]))
    .map((name) => `${name}: ${describeDifference(slow[name], fast[name])}`);
}

function runOracle(program: Program, exchange: Exchange, folded: boolean): Outcome {
  const result = evaluateTransaction(program, exchange, fixedPorts);
  const { transaction, variables } = result;
  return {
    phaseVerdicts: result.phaseVerdicts,
    matchedRules: result.matchedRules,
    variables: sortedVariables(variables),
    highestSeverity: transaction.highestSeverity,
    inboundScore: score(variables, 'blocking_inbound_anomaly_score', 'anomaly_score'),
    outboundScore: score(variables, 'blocking_outbound_anomaly_score', 'outbound_anomaly_score'),
    lastMatch: folded ? [] : [transaction.matchedVariable, transaction.matchedVariableName],
  };
}

/** Phase by phase as the front drives a session: after a verdict only `finish` follows. */
function runFast(engine: PolicyEngine, exchange: Exchange, folded: boolean): Outcome {
  const session = engine.open(exchange.request);
  const phaseVerdicts: Verdict[] = [passVerdict];
  for (const step of steps(session, exchange)) phaseVerdicts.push(step());
  while (phaseVerdicts.length < 5) phaseVerdicts.push(passVerdict);
  const tx = session.transaction;
  // Read behind phase 5, but before the runner goes back to its pool.
  const record = session.finish();
  const variables = tx.tx.snapshot();
  return {
    phaseVerdicts,
    matchedRules: record.matchedRules,
    variables: sortedVariables(variables),
    highestSeverity: tx.highestSeverity,
    inboundScore: record.inboundScore,
    outboundScore: record.outboundScore,
    lastMatch: folded ? [] : [tx.matchedVariable, tx.matchedVariableName],
  };
}

function* steps(session: RuleSession, exchange: Exchange): Generator<() => Verdict> {
  let verdict: Verdict = passVerdict;
  const noted = (step: () => Verdict) => (): Verdict => (verdict = step());
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

function sortedVariables(variables: ReadonlyMap<string, string>): [string, string][] {
  return [...variables].sort(([a], [b]) => (a < b ? -1 : 1));
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
