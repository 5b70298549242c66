/** Tests what is read from a trace of the main thread of a page. */

import { expect, test } from 'vitest';
import { mainThread, type TraceEvent } from './trace.ts';

const named = (pid: number, name: string): TraceEvent => ({
  ...{ name: 'thread_name', ph: 'M', pid, tid: 1, ts: 0, args: { name } },
});
const task = (pid: number, dur: number, tdur: number): TraceEvent => ({
  ...{ name: 'RunTask', ph: 'X', pid, tid: 1, ts: 0, dur, tdur },
});

test('the busiest main thread counts, by its own tasks', () => {
  const frame = { name: 'FireAnimationFrame', ph: 'X', pid: 7, tid: 1, ts: 0 };
  const events = [
    ...[named(7, 'CrRendererMain'), named(8, 'CrRendererMain'), named(9, 'Compositor')],
    ...[task(7, 60_000, 20_000), task(7, 30_000, 30_000), task(8, 10, 10), task(9, 1e9, 1e9)],
    frame,
  ];
  expect(mainThread(events)).toEqual({
    ...{ tasks: 2, longestMs: 60, longestCpuMs: 30, over50: 1, cpuMs: 50, frames: 1 },
  });
});

test('a trace without tasks is no result', () => {
  expect(() => mainThread([named(7, 'CrRendererMain')])).toThrow('holds no task');
});
