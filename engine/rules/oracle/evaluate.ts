/**
 * The slow, obvious interpreter of a rule program: phase by phase, rule by rule, value by
 * value, without prefilter, folding or caches. It defines what the fast path must answer; its
 * semantic decisions stand in semantics.md. Never touches the network, files or a clock of its own.
 */

import type { ByteString } from '../../../base/byte-string.ts';
import type { BodySnapshot, RequestSnapshot, ResponseSnapshot } from '../../contract/message.ts';
import { passVerdict, type MatchedRule, type Verdict } from '../../contract/verdict.ts';
import { saveCollections } from '../transaction/collections.ts';
import { loadRequestBody } from '../load/request-body.ts';
import { loadRequestHead } from '../load/request-head.ts';
import { loadResponseBody } from '../load/response-body.ts';
import { loadResponseHead } from '../load/response-head.ts';
import type { RulePorts } from '../transaction/ports.ts';
import { maskSanitised } from '../transaction/report.ts';
import { Transaction } from '../transaction/transaction.ts';
import { selectUnicodeMap } from '../features/transformations/list.ts';
import type { Program } from '../transaction/types.ts';
import { SOURCE } from '../transaction/values.ts';
import { evaluatePhase, loggingPhase, type PhaseState } from './evaluate-phase.ts';
import { noTrace, type Trace } from './trace.ts';

/** One request with the answer it would get; null where there is none. */
export interface Exchange {
  readonly request: RequestSnapshot;
  readonly requestBody: BodySnapshot | null;
  readonly response: ResponseSnapshot | null;
  readonly responseBody: BodySnapshot | null;
}

/** What came of it. */
export interface OracleResult {
  readonly verdict: Verdict;
  /** Index 1 to 4; `pass` for phases that did not run. */
  readonly phaseVerdicts: readonly Verdict[];
  /** What `verdict` would have been, had the engine not only detected. */
  readonly detected: Verdict | null;
  readonly matchedRules: readonly MatchedRule[];
  /** Ids of all rules that matched, `nolog` ones too, in order. */
  readonly matchedIds: readonly number[];
  /** TX at the end. */
  readonly variables: ReadonlyMap<string, ByteString>;
  /** The transaction as it ended; for log lines and further questions. */
  readonly transaction: Transaction;
}

/**
 * Runs one exchange through a program. Never throws for anything that came over the network. A
 * caller that watches the run passes a new `tx` of its own.
 */
export function evaluateTransaction(
  program: Program,
  exchange: Exchange,
  ports: RulePorts,
  trace: Trace = noTrace,
  tx: Transaction = new Transaction(),
): OracleResult {
  tx.begin(exchange.request, program.settings, ports);
  selectUnicodeMap(program.settings.unicodeMap);
  const state: PhaseState = { matchedIds: [], allowedThrough: 0, detected: null };
  const phaseVerdicts: Verdict[] = [
    passVerdict,
    passVerdict,
    passVerdict,
    passVerdict,
    passVerdict,
  ];
  let verdict: Verdict = passVerdict;
  if (tx.control.engine === 'off') trace(4, () => 'Rule engine disabled, returning...');
  for (let phase = 1; phase < loggingPhase && verdict.action === 'pass'; phase++) {
    if (!loadPhase(phase, exchange, tx, trace)) continue;
    verdict = evaluatePhase(program, phase, tx, state, trace);
    phaseVerdicts[phase] = verdict;
  }
  evaluatePhase(program, loggingPhase, tx, state, trace);
  saveCollections(tx);
  return {
    verdict,
    phaseVerdicts,
    detected: state.detected,
    matchedRules: maskSanitised(tx),
    matchedIds: state.matchedIds,
    variables: tx.tx.snapshot(),
    transaction: tx,
  };
}

/** Fills the values of a phase; false when the exchange never gets there. */
function loadPhase(phase: number, exchange: Exchange, tx: Transaction, trace: Trace): boolean {
  if (tx.control.engine === 'off') return false;
  if (phase === 1) loadRequestHead(tx);
  if (phase === 2) loadRequestBody(tx, exchange.requestBody);
  if (phase <= 2) return true;
  if (exchange.response === null) return false;
  if (phase === 3) loadResponseHead(tx, exchange.response);
  if (phase === 4) loadResponseBody(tx, inspectedResponseBody(exchange, tx, trace));
  return true;
}

/** The response body where its Content-Type is one that SecResponseBodyMimeType names. */
function inspectedResponseBody(
  exchange: Exchange,
  tx: Transaction,
  trace: Trace,
): BodySnapshot | null {
  const type = responseMimeType(tx);
  if (tx.settings.responseBodyMimeTypes.includes(type)) return exchange.responseBody;
  trace(5, () => `Response Content-Type is ${type}. It is not marked to be inspected.`);
  return null;
}

function responseMimeType(tx: Transaction): string {
  const { values } = tx;
  const row = values
    .rowsOf(SOURCE.responseHeader)
    .find((index) => values.key(index).toLowerCase() === 'content-type');
  if (row === undefined) return '';
  return (values.value(row).split(';')[0] ?? '').trim().toLowerCase();
}
