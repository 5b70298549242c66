/** Proves that a thread's CPU time counts its own work only. */
import { expect, test } from 'vitest';
import { threadCpuUs } from './thread-time.ts';

test('work counts, waiting does not', () => {
  const idle = new Int32Array(new SharedArrayBuffer(4));
  const before = threadCpuUs();
  Atomics.wait(idle, 0, 0, 200);
  const waited = threadCpuUs();
  expect(waited - before).toBeLessThan(100_000);
  while (threadCpuUs() - waited < 20_000) Math.sqrt(waited);
  expect(threadCpuUs()).toBeGreaterThanOrEqual(waited + 20_000);
});
