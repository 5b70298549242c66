/**
 * Composition root of the planner thread: links new policies and lays their plans and databases
 * in shared memory, so that front threads only attach to them. Serves nothing.
 */

import { parentPort, workerData } from 'node:worker_threads';
import { collectGarbage } from '../../base/garbage.ts';
import type { ThreadSettings } from './thread-settings.ts';
import type { PlannerAnswer, PlannerTask, PlanOutcome } from '../rollout/planner.ts';
import type { KeyedPolicy } from '../contract/policy.ts';
import {
  keptFindings,
  keptPolicy,
  linkPolicy,
  planPolicy,
  type BuildOptions,
} from '../policies/policy-build.ts';
import { closeProgram, type BuildResult } from '../rules/program/build-program.ts';
import { planningBuild } from './planning-build.ts';
import { threadParts } from './thread-parts.ts';

const parts = threadParts('planner', workerData as ThreadSettings);
const send = (answer: PlannerAnswer): void => parentPort!.postMessage(answer);

parentPort!.on('message', (task: PlannerTask) => {
  try {
    send({ kind: 'done', id: task.id, outcome: outcomeOf(task) });
  } catch (thrown) {
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    send({ kind: 'failed', id: task.id, message });
  }
  // Databases that nobody uses any more live until the last thread lets go of them.
  if (task.kind === 'plan') setImmediate(collectGarbage);
});

/** What was linked last, without errors: most likely it is planned next. */
let linked: { readonly key: string; readonly result: BuildResult } | null = null;

function outcomeOf(task: PlannerTask): PlanOutcome {
  return task.kind === 'link' ? link(task.policy) : plan(task);
}

function link({ key, source }: KeyedPolicy): PlanOutcome {
  const before = takeLinked(key);
  if (before?.program) closeProgram(before.program);
  const kept = keptFindings(key, optionsFor(source.name));
  if (kept !== null) return { ...kept, ok: true, shared: new Map() };
  const result = linkPolicy(source);
  const { program, diagnostics } = result;
  if (program !== null) linked = { key, result };
  const rules = program?.rules.filter(({ id }) => id !== 0).length ?? 0;
  return { ok: program !== null, diagnostics, rules, shared: new Map() };
}

/** The policy as it was linked; null where another was linked last, whose memory is freed then. */
function takeLinked(key: string): BuildResult | null {
  const last = linked;
  linked = null;
  if (last?.key === key) return last.result;
  if (last?.result.program) closeProgram(last.result.program);
  return null;
}

function plan({ policy, inUse }: PlannerTask): PlanOutcome {
  const { key, source } = policy;
  parts.useShared(inUse);
  try {
    const options = optionsFor(source.name);
    const before = takeLinked(key);
    const kept = before === null ? keptPolicy(key, options) : null;
    const { diagnostics, rules, shared } = kept ?? planPolicy(policy, options, before);
    return { ok: shared !== null, diagnostics, rules, shared: shared ?? new Map() };
  } finally {
    parts.useShared(new Map());
    parts.takeAttached();
  }
}

function optionsFor(what: string): BuildOptions {
  const onProgress = (done: number, total: number): void =>
    send({ kind: 'progress', done, total, what });
  return {
    cache: parts.cache,
    log: parts.log,
    ports: parts.ports,
    build: planningBuild,
    onProgress,
  };
}
