/**
 * Policies whose inspection fails on purpose, in a phase of choice, with the errors that the parts
 * below it really give. The same ones run on the front's thread and in pool threads.
 */

import { systemClock, type Clock } from '../../base/clock.ts';
import { silentLogger } from '../../base/log.ts';
import { poolLimits } from '../../engine/base/limits.ts';
import type { RequestSnapshot } from '../../engine/contract/message.ts';
import { policyOf } from '../support/test-policy.ts';
import { buildEngine } from '../../engine/policies/policy-build.ts';
import type { PolicyEngine, RuleSession } from '../../engine/rules/run/policy-engine.ts';
import type { WorkerEngine } from '../../engine/pool/worker.ts';

/** What goes wrong. `die` ends the thread, `block` keeps it, `steps` in twenty steps of a body. */
export type Fault = 'native' | 'memory' | 'deadline' | 'internal' | 'die' | 'block' | Slow;
type Slow = 'steps' | 'none';

/** What goes wrong in which phase. */
export interface FaultPlan {
  readonly fault: Fault;
  readonly phase: number;
  /** In shared memory: how often `block` has kept the thread. */
  readonly blocks?: Int32Array;
}

const policy = policyOf(
  'SecRule REQUEST_HEADERS|ARGS|RESPONSE_HEADERS|RESPONSE_BODY "@rx evil" "id:1,phase:4,deny"\n',
);

function coded(code: string): Error {
  return Object.assign(new Error(`planted ${code}`), { code });
}

/** The engine of such a policy. Each phase of a request with bodies scans once. */
export function faultyEngine({ fault, phase, blocks }: FaultPlan): WorkerEngine & {
  open(request: RequestSnapshot, recordOnly?: boolean): RuleSession;
} {
  let lateUs = 0;
  const clock: Clock = { ...systemClock, monotonicUs: () => systemClock.monotonicUs() + lateUs };
  const ports = { clock, collections: null, geo: null, rbl: null, env: new Map() };
  const cache = { get: () => null, put: () => undefined };
  const engine: PolicyEngine = buildEngine(policy, { cache, log: silentLogger, ports });
  const scan = engine.plan.scan!;
  let scans = 0;
  const { scanRows } = scan;
  scan.scanRows = (...args) => {
    const found = scanRows.apply(scan, args);
    if (++scans === phase) fail(fault, () => (lateUs += poolLimits.requestBudgetMs * 1001));
    return found;
  };
  return {
    open: (request, recordOnly) => {
      scans = 0;
      const session = engine.open(request, recordOnly);
      if (fault === 'steps') return inManySteps(session);
      return fault === 'block' ? blocking(session, phase, blocks) : session;
    },
    retire: () => engine.retire(),
  };
}

function fail(fault: Fault, beLate: () => void): void {
  if (fault === 'native') throw coded('scan_failed');
  if (fault === 'memory') throw coded('arena_full');
  if (fault === 'internal') throw new TypeError('planted');
  if (fault === 'deadline') beLate();
  if (fault === 'die') process.exit(1);
}

/** Keeps the thread. */
function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** A large body takes twenty steps, each longer than a slice. */
function inManySteps(session: RuleSession): RuleSession {
  const { requestBodyInSteps } = session;
  session.requestBodyInSteps = function* steps(body) {
    for (let step = 0; step < 20; step++) {
      pause(2 * poolLimits.sliceMs);
      yield;
    }
    return yield* requestBodyInSteps.call(session, body);
  };
  return session;
}

/** Keeps the thread for a second in phase 1 or 2. */
function blocking(session: RuleSession, phase: number, blocks?: Int32Array): RuleSession {
  const block = (): void => {
    pause(1000);
    if (blocks !== undefined) Atomics.add(blocks, 0, 1);
  };
  const { requestHead, requestBody, requestBodyInSteps } = session;
  session.requestHead = () => {
    if (phase === 1) block();
    return requestHead.call(session);
  };
  session.requestBody = (body) => {
    if (phase === 2) block();
    return requestBody.call(session, body);
  };
  session.requestBodyInSteps = function* steps(body) {
    if (phase === 2) block();
    return yield* requestBodyInSteps.call(session, body);
  };
  return session;
}
