/**
 * Decides when memory is returned: V8's after a change of configuration, the process's also when
 * idle after work. Never frees anything itself.
 */

import { frontLimits } from '../../base/delivery-limits.ts';
import { engineLimits } from '../base/limits.ts';
import { coalesce } from './coalesce.ts';
import { dropFilePages, easeHeap, trimHeap } from '../system/memory.ts';
import { onIdle } from './idle-detection.ts';

const { idleProcessCheckEveryMs, idleShare, idleWorthMs } = engineLimits;
const { pagesEveryMs, trimDelayMs } = engineLimits;

/**
 * Eases the heap of a thread that serves; to be called when something large has become garbage: V8
 * would collect it late and in one long pause. Never in a pause of traffic: a collection that
 * shrinks the heap also frees the hidden classes of objects of which none is alive, and with them
 * all compiled code of a request; the requests after the pause then cost three to seven times as
 * much until it is compiled again.
 */
export const easeThisThread: () => void = coalesce(easeHeap, frontLimits.collectDelayMs);

/** Returns the memory that the process no longer needs, now and then and when it is asked. */
export function trimThisProcess(): () => void {
  const trim = coalesce(trimHeap, trimDelayMs);
  setInterval(dropFilePages, pagesEveryMs).unref();
  const workedMs = (): number => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  };
  const idle = { workedMs, everyMs: idleProcessCheckEveryMs, idleShare, worthMs: idleWorthMs };
  onIdle(idle, trim);
  return trim;
}
