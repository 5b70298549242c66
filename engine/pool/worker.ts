/**
 * Owns the body of a pool thread: keeps policy engines and open sessions, and answers one batch of
 * operations at a time. The composition that builds engines is injected through `createPoolWorker`.
 */

import { toAppError } from '../base/errors.ts';
import { poolLimits } from '../base/limits.ts';
import type { InspectionSession } from '../contract/inspection.ts';
import type { RequestSnapshot } from '../contract/message.ts';
import { passVerdict } from '../contract/verdict.ts';
import type { BodyNeed, TransactionRecord, Verdict } from '../contract/verdict.ts';
import type { PoolAnswer, PoolBatch, PoolOperation } from './wire.ts';

/** An inspection session that answers at once, as it does inside a worker. */
export interface SyncSession extends InspectionSession {
  requestHead(): Verdict;
  requestBody(body: Parameters<InspectionSession['requestBody']>[0]): Verdict;
  responseHead(response: Parameters<InspectionSession['responseHead']>[0]): Verdict;
  responseBody(body: Parameters<InspectionSession['responseBody']>[0]): Verdict;
  finish(): TransactionRecord;
}

/** What the worker needs of a policy engine. */
export interface WorkerEngine {
  open(request: RequestSnapshot, recordOnly: boolean): SyncSession;
  retire(): void;
}

const noNeed: BodyNeed = { inspect: false, limitBytes: 0, onExcess: 'prefix' };

/** Builds the function that piscina calls; `build` makes an engine from a policy's source. */
export function createPoolWorker(
  build: (source: unknown) => WorkerEngine,
): (batch: PoolBatch) => PoolAnswer[] {
  const engines = new Map<string, WorkerEngine>();
  const sessions = new Map<number, SyncSession>();
  return (batch) =>
    batch.operations.map((operation) => answer(operation, engines, sessions, build));
}

function answer(
  operation: PoolOperation,
  engines: Map<string, WorkerEngine>,
  sessions: Map<number, SyncSession>,
  build: (source: unknown) => WorkerEngine,
): PoolAnswer {
  try {
    switch (operation.op) {
      case 'load':
        engines.get(operation.policy)?.retire();
        engines.set(operation.policy, build(operation.source));
        return { kind: 'done' };
      case 'retire':
        engines.get(operation.policy)?.retire();
        engines.delete(operation.policy);
        return { kind: 'done' };
      case 'open':
        return open(operation, engines, sessions);
      default:
        return step(operation, sessions);
    }
  } catch (thrown) {
    const { code } = toAppError(thrown);
    return { kind: 'failed', reason: code };
  }
}

function open(
  operation: Extract<PoolOperation, { op: 'open' }>,
  engines: Map<string, WorkerEngine>,
  sessions: Map<number, SyncSession>,
): PoolAnswer {
  const engine = engines.get(operation.policy);
  if (!engine) return { kind: 'failed', reason: 'policy is not loaded' };
  if (sessions.size >= poolLimits.sessionsPerWorkerMax) {
    return { kind: 'failed', reason: 'too many open sessions' };
  }
  const session = engine.open(operation.request, operation.recordOnly);
  sessions.set(operation.session, session);
  const verdict = session.requestHead();
  const goOn = verdict.action === 'pass' && operation.bodyless;
  const bodyVerdict = goOn ? session.requestBody(null) : null;
  return { kind: 'verdict', verdict, bodyVerdict, need: session.bodyNeed };
}

function step(
  operation: Exclude<PoolOperation, { op: 'open' | 'load' | 'retire' }>,
  sessions: Map<number, SyncSession>,
): PoolAnswer {
  const session = sessions.get(operation.session);
  if (!session) return { kind: 'failed', reason: 'session is not open' };
  const verdictOf = (verdict: Verdict, need = noNeed): PoolAnswer => ({
    kind: 'verdict',
    verdict,
    bodyVerdict: null,
    need,
  });
  switch (operation.op) {
    case 'requestBody':
      return verdictOf(session.requestBody(operation.body));
    case 'responseHead': {
      const verdict = session.responseHead(operation.response);
      return verdictOf(verdict, session.responseNeed);
    }
    case 'responseBody':
      return verdictOf(session.responseBody(operation.body));
    case 'finish':
      sessions.delete(operation.session);
      return { kind: 'record', record: session.finish() };
  }
}

/** The verdict of a session that could not be inspected, by the site's fail policy. */
export function failVerdict(failPolicy: 'closed' | 'open'): Verdict {
  return failPolicy === 'open'
    ? passVerdict
    : { action: 'block', status: 503, ruleId: 0, phase: 0 };
}
