/**
 * Decides when memory is returned: after a change of configuration, and when idle after work.
 * Never frees anything itself.
 */

import { frontLimits } from '../../base/delivery-limits.ts';
import { engineLimits } from '../base/limits.ts';
import { coalesce } from './coalesce.ts';
import { dropFilePages, easeHeap, trimHeap } from '../system/memory.ts';
import { onIdle } from './idle-detection.ts';

const { idleCheckEveryMs, idleProcessCheckEveryMs, idleShare, idleWorthMs } = engineLimits;
const { pagesEveryMs, trimDelayMs } = engineLimits;

/**
 * Keeps the heap of a thread that serves small; call the returned function when something large
 * has become garbage: V8 would collect it late and in one long pause.
 */
export function easeThisThread(): () => void {
  const workedMs = (): number => performance.eventLoopUtilization().active;
  const idle = { workedMs, everyMs: idleCheckEveryMs, idleShare, worthMs: idleWorthMs };
  onIdle(idle, easeHeap);
  return coalesce(easeHeap, frontLimits.collectDelayMs);
}

/** The same for the main thread, which also returns the memory that the process no longer needs. */
export function trimThisProcess(): () => void {
  const trim = coalesce(trimHeap, trimDelayMs);
  setInterval(dropFilePages, pagesEveryMs).unref();
  const workedMs = (): number => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  };
  const idle = { workedMs, everyMs: idleProcessCheckEveryMs, idleShare, worthMs: idleWorthMs };
  onIdle(idle, () => {
    easeHeap();
    trim();
  });
  return trim;
}
