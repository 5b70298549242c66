/**
 * Preloaded into this proxy's threads by `--pauses`: notes how long each event loop stood still,
 * less the time that the thread waited for a CPU. Touches nothing of the proxy.
 */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isMainThread, threadId } from 'node:worker_threads';
import { pausesMax, pauseMsMin, probeFolderVariable, type Pause } from './pauses.ts';

const tickMs = 1;
const ticksBetweenWrites = 1000;

/** Nanoseconds that this thread was ready and waited for a CPU. Source: proc(5), schedstat. */
function waitedMs(): number {
  return Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[1]) / 1e6;
}

/** Notes this thread's pauses in a file, until the returned function is called. */
export function watchPauses(file: string, writeEveryTicks = ticksBetweenWrites): () => void {
  const pauses: Pause[] = [];
  let last = performance.now();
  let waited = waitedMs();
  let ticks = 0;
  const timer = setInterval(() => {
    const now = performance.now();
    const waitedNow = waitedMs();
    const ms = now - last - tickMs - (waitedNow - waited);
    waited = waitedNow;
    if (ms >= pauseMsMin && pauses.length < pausesMax) pauses.push({ atMs: Date.now(), ms });
    if (++ticks % writeEveryTicks === 0) writeFileSync(file, JSON.stringify(pauses));
    // What writing took is not the proxy's.
    last = performance.now();
  }, tickMs).unref();
  return () => clearInterval(timer);
}

const folder = process.env[probeFolderVariable];
if (!isMainThread && folder !== undefined) {
  mkdirSync(folder, { recursive: true });
  watchPauses(join(folder, `thread-${threadId}.json`));
}
