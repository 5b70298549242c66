/**
 * A front thread that watches itself: writes the longest pause of its event loop, in microseconds,
 * into the shared cell that `extra.stall` names, then runs as every front thread does.
 */

import { monitorEventLoopDelay } from 'node:perf_hooks';
import { workerData } from 'node:worker_threads';

const everyMs = 1;
const cell = workerData.extra.stall;
const delays = monitorEventLoopDelay({ resolution: everyMs });
delays.enable();
setInterval(() => {
  const longestUs = Math.round(delays.max / 1000 - everyMs * 1000);
  delays.reset();
  if (longestUs > Atomics.load(cell, 0)) Atomics.store(cell, 0, longestUs);
}, 5).unref();

await import('../../.build/engine/threads/front-thread.js');
