/** A pool worker whose policies tell it how to misbehave; speaks the messages of engine/pool. */

import { threadId } from 'node:worker_threads';

const loaded = new Map();
const sessions = new Map();
const need = { inspect: true, limitBytes: 1024, onExcess: 'prefix' };
const pass = { action: 'pass', status: 0, ruleId: 0, phase: 0 };

export default function answerBatch({ operations }) {
  return operations.map(answer);
}

function answer(operation) {
  switch (operation.op) {
    case 'load':
      loaded.set(operation.policy, operation.source);
      return { kind: 'done' };
    case 'retire':
      loaded.delete(operation.policy);
      return { kind: 'done' };
    case 'open':
      return open(operation);
    case 'finish':
      return finish(operation);
    default:
      if (!sessions.has(operation.session)) return { kind: 'failed', reason: 'worker' };
      return { kind: 'verdict', verdict: pass, bodyVerdict: null, need };
  }
}

function open({ policy, session }) {
  const behavior = loaded.get(policy);
  if (behavior === undefined) return { kind: 'failed', reason: 'policy' };
  if (behavior.die) process.exit(1);
  if (behavior.blockMs)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, behavior.blockMs);
  sessions.set(session, behavior);
  return { kind: 'verdict', verdict: pass, bodyVerdict: null, need };
}

/** The thread's id stands in for a score, so that tests see which thread answered. */
function finish({ session }) {
  if (!sessions.delete(session)) return { kind: 'failed', reason: 'worker' };
  const scores = { inboundScore: threadId, outboundScore: 0 };
  const record = {
    verdict: pass,
    matchedRules: [],
    ...scores,
    detectionOnly: false,
    inspectionUs: 1,
  };
  return { kind: 'record', record };
}
