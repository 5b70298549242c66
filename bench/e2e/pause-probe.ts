/**
 * Preloaded into this proxy's threads by `--pauses`: notes how long each event loop stood still,
 * less the time that the thread waited for a CPU, and what it did then. Touches nothing of the
 * proxy.
 */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { constants, PerformanceObserver } from 'node:perf_hooks';
import { isMainThread, threadId } from 'node:worker_threads';
import {
  pausesMax,
  pauseMsMin,
  probeFolderVariable,
  type Collection,
  type Pause,
} from './pauses.ts';

const tickMs = 1;
const ticksBetweenWrites = 1000;
/** Collections of the last seconds; a pause is matched with them when pauses are written. */
const collectionsMax = 10_000;

const kinds: Readonly<Record<number, Collection['kind']>> = {
  [constants.NODE_PERFORMANCE_GC_MINOR]: 'minor',
  [constants.NODE_PERFORMANCE_GC_MAJOR]: 'major',
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL]: 'incremental',
  [constants.NODE_PERFORMANCE_GC_WEAKCB]: 'weak callbacks',
};

/** Milliseconds that this thread ran, and was ready and waited. Source: proc(5), schedstat. */
function scheduled(): { ran: number; waited: number } {
  const [ran, waited] = readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ');
  return { ran: Number(ran) / 1e6, waited: Number(waited) / 1e6 };
}

/** What Node adds to an entry of a collection; its types leave it out. */
interface GcFacts {
  readonly detail: { readonly kind: number };
}

/** A pause with its span by the thread's clock. */
interface Noted extends Omit<Pause, 'collections'> {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Notes this thread's pauses in a file, until the returned function is called. */
export function watchPauses(file: string, writeEveryTicks = ticksBetweenWrites): () => void {
  const pauses: Pause[] = [];
  let fresh: Noted[] = [];
  let collections: Collection[] = [];
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const { startTime, duration, detail } = entry as typeof entry & GcFacts;
      const kind = kinds[detail.kind];
      if (kind === undefined || collections.length >= collectionsMax) continue;
      collections.push({ kind, fromMs: startTime, ms: duration });
    }
  });
  observer.observe({ entryTypes: ['gc'] });
  const write = (): void => {
    pauses.push(...fresh.map((noted) => explained(noted, collections)));
    fresh = [];
    collections = [];
    writeFileSync(file, JSON.stringify(pauses));
  };
  let last = performance.now();
  let before = scheduled();
  let ticks = 0;
  const timer = setInterval(() => {
    const now = performance.now();
    const { ran, waited } = scheduled();
    const ms = now - last - tickMs - (waited - before.waited);
    if (ms >= pauseMsMin && pauses.length + fresh.length < pausesMax) {
      const span = { fromMs: last, toMs: now };
      fresh.push({ atMs: Date.now(), ms, ranMs: ran - before.ran, ...span });
    }
    if (++ticks % writeEveryTicks === 0) write();
    // What writing took is not the proxy's.
    before = ticks % writeEveryTicks === 0 ? scheduled() : { ran, waited };
    last = performance.now();
  }, tickMs).unref();
  return () => {
    clearInterval(timer);
    observer.disconnect();
  };
}

function explained({ fromMs, toMs, ...pause }: Noted, all: readonly Collection[]): Pause {
  const within = all.filter((one) => one.fromMs >= fromMs && one.fromMs < toMs);
  return { ...pause, collections: within };
}

const folder = process.env[probeFolderVariable];
if (!isMainThread && folder !== undefined) {
  mkdirSync(folder, { recursive: true });
  watchPauses(join(folder, `thread-${threadId}.json`));
}
