/**
 * Composition root of the planner thread: links new policies and lays their plans and databases
 * in shared memory, so that front threads only attach to them. Serves nothing.
 */

import { parentPort, workerData } from 'node:worker_threads';
import { collectGarbage } from '../base/garbage.ts';
import type { ThreadSettings } from './thread-settings.ts';
import type { PlannerAnswer, PlannerTask, PlanOutcome } from '../rollout/planner.ts';
import { planPolicy } from '../policies/policy-build.ts';
import { threadParts } from './thread-parts.ts';

const parts = threadParts('planner', workerData as ThreadSettings);
const send = (answer: PlannerAnswer): void => parentPort!.postMessage(answer);

parentPort!.on('message', (task: PlannerTask) => {
  try {
    send({ kind: 'done', id: task.id, outcome: plan(task) });
  } catch (thrown) {
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    send({ kind: 'failed', id: task.id, message });
  }
  // Databases that nobody uses any more live until the last thread lets go of them.
  setImmediate(collectGarbage);
});

function plan({ policy, inUse }: PlannerTask): PlanOutcome {
  const { source } = policy;
  parts.useShared(inUse);
  try {
    const { diagnostics, rules, shared } = planPolicy(policy, {
      cache: parts.cache,
      log: parts.log,
      ports: parts.ports,
      onProgress: (done, total) => send({ kind: 'progress', done, total, what: source.name }),
    });
    return { ok: shared !== null, diagnostics, rules, shared: shared ?? new Map() };
  } finally {
    parts.useShared(new Map());
    parts.takeAttached();
  }
}
