/**
 * Owns when memory goes back: behind a change of configuration, and when it is quiet behind work.
 * Never frees anything itself.
 */

import { engineLimits, frontLimits } from '../base/limits.ts';
import { later } from './coalesce.ts';
import { dropFilePages, easeHeap, trimHeap } from '../match/memory.ts';
import { whenQuiet } from './idle-detection.ts';

const { quietEveryMs, quietProcessEveryMs, quietShare, quietWorthMs } = engineLimits;
const { pagesEveryMs, trimDelayMs } = engineLimits;

/**
 * Keeps the heap of a thread that serves small; the answer is called when something of size has
 * become garbage, which V8 would otherwise collect late and in one long pause.
 */
export function easeThisThread(): () => void {
  const workedMs = (): number => performance.eventLoopUtilization().active;
  const quiet = { workedMs, everyMs: quietEveryMs, quietShare, worthMs: quietWorthMs };
  whenQuiet(quiet, easeHeap);
  return later(easeHeap, frontLimits.collectDelayMs);
}

/** The same for the main thread, which gives back what the whole process no longer needs. */
export function trimThisProcess(): () => void {
  const trim = later(trimHeap, trimDelayMs);
  setInterval(dropFilePages, pagesEveryMs).unref();
  const workedMs = (): number => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  };
  const quiet = { workedMs, everyMs: quietProcessEveryMs, quietShare, worthMs: quietWorthMs };
  whenQuiet(quiet, () => {
    easeHeap();
    trim();
  });
  return trim;
}
