/** Tests when a queue gives up on an operation: past its deadline, but not while a policy loads. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { createLogger } from '../../base/log.ts';
import { poolLimits } from '../base/limits.ts';
import { WorkerQueue } from './worker-queue.ts';
import type { PoolAnswer } from './wire.ts';

/** Answers a batch once the gate opens. */
const workerText = `
import { workerData } from 'node:worker_threads';
export default ({ operations }) => {
  Atomics.wait(workerData.gate, 0, 0);
  return operations.map(() => ({ kind: 'done' }));
};
`;

let folder: string;
let queue: WorkerQueue;
let nowUs = 0;
let gate: Int32Array;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'queue-'));
  writeFileSync(join(folder, 'worker.mjs'), workerText);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));
afterEach(() => queue.close());

function openQueue(): void {
  nowUs = 0;
  gate = new Int32Array(new SharedArrayBuffer(4));
  queue = new WorkerQueue({
    workerFile: pathToFileURL(join(folder, 'worker.mjs')),
    workerData: { gate },
    clock: { nowMs: () => 0, monotonicUs: () => nowUs },
    log: createLogger('test', 'error'),
    deadlineMs: 50,
  });
}

function openGate(): void {
  Atomics.store(gate, 0, 1);
  Atomics.notify(gate, 0);
}

function closeGate(): void {
  Atomics.store(gate, 0, 0);
}

/** Several rounds of the queue's watchdog. */
const aWhile = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 60));
const finish = { op: 'finish', session: 1 } as const;
const path = ['site', 'client'] as const;

test('an operation past its deadline is given up', async () => {
  openQueue();
  const answer = queue.send(finish, path);
  nowUs = 51_000;
  expect(await answer).toEqual({ kind: 'failed', reason: 'deadline' });
  openGate();
});

test('the shortest wait is measured, and a policy that loads is no wait', async () => {
  openQueue();
  expect(queue.takeWaitUs()).toBe(0);
  const answers = [queue.send(finish, path)];
  nowUs = 4_000;
  answers.push(queue.send(finish, path));
  expect(queue.takeWaitUs()).toBe(0);
  nowUs = 30_000;
  // The first left at once; the second waits for it.
  expect(queue.takeWaitUs()).toBe(30_000);
  openGate();
  await Promise.all(answers);
  expect(queue.takeWaitUs()).toBe(26_000);
  expect(queue.takeWaitUs()).toBe(0);
  closeGate();
  queue.load('p', null, true);
  answers.push(queue.send(finish, path));
  nowUs = 90_000;
  expect(queue.takeWaitUs()).toBe(0);
  openGate();
  await Promise.all(answers);
  expect(queue.takeWaitUs()).toBe(0);
});

test('a deadline does not run while a policy loads', async () => {
  openQueue();
  queue.load('p', null, true);
  let settled: PoolAnswer | null = null;
  const answer = queue.send(finish, path).then((result) => (settled = result));
  nowUs = 10_000_000;
  await aWhile();
  expect(settled).toBeNull();
  openGate();
  expect(await answer).toEqual({ kind: 'done' });
});

test('a policy that never gets ready does not hold requests for ever', async () => {
  openQueue();
  queue.load('p', null, true);
  const answer = queue.send(finish, path);
  nowUs = poolLimits.loadDeadlineMs * 1000 + 1;
  expect(await answer).toEqual({ kind: 'failed', reason: 'deadline' });
  openGate();
});
