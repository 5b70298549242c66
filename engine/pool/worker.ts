/**
 * The body of a pool thread: keeps policy engines and open sessions, and answers one batch of
 * operations at a time. The composition that builds engines is injected through `createPoolWorker`.
 */

import { poolLimits } from '../base/limits.ts';
import type { Steps } from '../../base/steps.ts';
import type { InspectionSession } from '../contract/inspection.ts';
import { failureOf } from '../contract/inspection-failure.ts';
import type { PhaseResult } from '../contract/inspection-failure.ts';
import type { BodySnapshot, RequestSnapshot } from '../contract/message.ts';
import type { BodyNeed, TransactionRecord } from '../contract/verdict.ts';
import type { PoolAnswer, PoolBatch, PoolOperation } from './wire.ts';

/** An inspection session that answers at once, as it does inside a worker. */
export interface SyncSession extends InspectionSession {
  requestHead(): PhaseResult;
  requestBody(body: Parameters<InspectionSession['requestBody']>[0]): PhaseResult;
  /** As `requestBody`, in steps; one that is not run to its end is ended by `finish`. */
  requestBodyInSteps?(body: BodySnapshot): Steps<PhaseResult>;
  responseHead(response: Parameters<InspectionSession['responseHead']>[0]): PhaseResult;
  responseBody(body: Parameters<InspectionSession['responseBody']>[0]): PhaseResult;
  /** Ends the session without a record; its request is inspected elsewhere. */
  abandon(): void;
  finish(): TransactionRecord;
}

/** What the worker needs of a policy engine. */
export interface WorkerEngine {
  open(request: RequestSnapshot, recordOnly: boolean): SyncSession;
  retire(): void;
}

/** A session, and the phase of it that is being worked on in steps. */
interface OpenSession {
  readonly session: SyncSession;
  steps: Steps<PhaseResult> | null;
}

const noNeed: BodyNeed = { inspect: false, limitBytes: 0, onExcess: 'prefix' };

/**
 * Builds the function that piscina calls; `build` makes an engine from a policy's source, `report`
 * takes what the caller gets as `failed`.
 */
export function createPoolWorker(
  build: (source: unknown) => WorkerEngine,
  report: (thrown: unknown) => void,
): (batch: PoolBatch) => PoolAnswer[] {
  const engines = new Map<string, WorkerEngine>();
  const sessions = new Map<number, OpenSession>();
  return (batch) =>
    batch.operations.map((operation) => {
      try {
        return answer(operation, engines, sessions, build);
      } catch (thrown) {
        report(thrown);
        return { kind: 'failed', reason: failureOf(thrown) };
      }
    });
}

function answer(
  operation: PoolOperation,
  engines: Map<string, WorkerEngine>,
  sessions: Map<number, OpenSession>,
  build: (source: unknown) => WorkerEngine,
): PoolAnswer {
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
}

function open(
  operation: Extract<PoolOperation, { op: 'open' }>,
  engines: Map<string, WorkerEngine>,
  sessions: Map<number, OpenSession>,
): PoolAnswer {
  const engine = engines.get(operation.policy);
  if (!engine) return { kind: 'failed', reason: 'policy' };
  if (sessions.size >= poolLimits.sessionsPerWorkerMax) return { kind: 'failed', reason: 'queue' };
  const session = engine.open(operation.request, operation.recordOnly);
  sessions.set(operation.session, { session, steps: null });
  const verdict = session.requestHead();
  if (verdict.action === 'failed') return { kind: 'failed', reason: verdict.reason };
  const goOn = verdict.action === 'pass' && operation.bodyless;
  const bodyVerdict = goOn ? session.requestBody(null) : null;
  if (bodyVerdict?.action === 'failed') return { kind: 'failed', reason: bodyVerdict.reason };
  return { kind: 'verdict', verdict, bodyVerdict, need: session.bodyNeed };
}

function step(
  operation: Exclude<PoolOperation, { op: 'open' | 'load' | 'retire' }>,
  sessions: Map<number, OpenSession>,
): PoolAnswer {
  const open = sessions.get(operation.session);
  // It was opened on a thread that died.
  if (!open) return { kind: 'failed', reason: 'worker' };
  const { session } = open;
  const verdictOf = (verdict: PhaseResult, need = noNeed): PoolAnswer =>
    verdict.action === 'failed'
      ? { kind: 'failed', reason: verdict.reason }
      : { kind: 'verdict', verdict, bodyVerdict: null, need };
  switch (operation.op) {
    case 'requestBody': {
      const { body } = operation;
      const isLarge = body !== null && body.bytes.length > poolLimits.stepBytes;
      if (!isLarge || session.requestBodyInSteps === undefined) {
        return verdictOf(session.requestBody(body));
      }
      open.steps = session.requestBodyInSteps(body);
      return runSlice(open, verdictOf);
    }
    case 'resume':
      return runSlice(open, verdictOf);
    case 'responseHead': {
      const verdict = session.responseHead(operation.response);
      return verdictOf(verdict, session.responseNeed);
    }
    case 'responseBody':
      return verdictOf(session.responseBody(operation.body));
    case 'abandon':
      sessions.delete(operation.session);
      session.abandon();
      return { kind: 'done' };
    case 'finish':
      sessions.delete(operation.session);
      return { kind: 'record', record: session.finish() };
  }
}

/** Runs steps of a phase for the length of one slice. */
function runSlice(open: OpenSession, verdictOf: (verdict: PhaseResult) => PoolAnswer): PoolAnswer {
  const until = performance.now() + poolLimits.sliceMs;
  do {
    const next = open.steps?.next();
    if (next === undefined) return { kind: 'failed', reason: 'internal' };
    if (next.done) {
      open.steps = null;
      return verdictOf(next.value);
    }
  } while (performance.now() < until);
  return { kind: 'unfinished' };
}
