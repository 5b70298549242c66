/**
 * What a micro benchmark is and how it is timed: median of many samples, each of enough calls that
 * the clock does not count, and CPU time of the whole process beside it.
 */

import { Bench } from 'tinybench';

/** One thing to time. */
export interface MicroTask {
  readonly name: string;
  /** Does it `calls` times; a promise where the work happens on other threads. */
  readonly run: () => void | Promise<void>;
  /** How often one `run` does it. */
  readonly calls: number;
}

/** Tasks that are compared with each other. */
export interface MicroGroup {
  readonly name: string;
  readonly title: string;
  readonly tasks: readonly MicroTask[];
  /** Frees what the tasks used. */
  readonly close?: () => void | Promise<void>;
}

/** Figures of one task, microseconds per call. */
export interface MicroResult {
  readonly group: string;
  readonly name: string;
  readonly medianUs: number;
  readonly minUs: number;
  readonly p99Us: number;
  /** CPU of all threads of this process, garbage collection included. */
  readonly cpuUs: number;
  readonly calls: number;
}

/** Times every task of a group, one after the other. Units and limits: `timeMs` for each. */
export async function runGroup(
  group: MicroGroup,
  timeMs: number,
  progress: (result: MicroResult) => void,
): Promise<MicroResult[]> {
  const results: MicroResult[] = [];
  for (const task of group.tasks) {
    const result = await runTask(group.name, task, timeMs);
    results.push(result);
    progress(result);
  }
  await group.close?.();
  return results;
}

async function runTask(group: string, task: MicroTask, timeMs: number): Promise<MicroResult> {
  let began = process.cpuUsage();
  let used = began;
  const bench = new Bench({
    time: timeMs,
    warmupTime: Math.ceil(timeMs / 2),
    throws: true,
    setup: () => {
      began = process.cpuUsage();
    },
    teardown: () => {
      used = process.cpuUsage(began);
    },
  });
  bench.add(task.name, task.run);
  const [done] = await bench.run();
  const result = done?.result;
  if (result?.state !== 'completed') throw new Error(`${group} ${task.name}: no result`);
  const { latency } = result;
  const us = (milliseconds: number): number => (milliseconds * 1000) / task.calls;
  const calls = latency.samplesCount * task.calls;
  return {
    group,
    name: task.name,
    medianUs: us(latency.p50),
    minUs: us(latency.min),
    p99Us: us(latency.p99),
    cpuUs: (used.user + used.system) / calls,
    calls,
  };
}
