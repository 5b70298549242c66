/**
 * Gives memory back: pages of the stores' files that were looked at, and what has become garbage
 * once the process is idle after work. Never keeps the process alive.
 */

import { collectGarbage } from '../../base/garbage.ts';
import { storeLimits } from '../limits/store-limits.ts';
import { dropFilePages } from '../../native-bindings/files/file-pages.ts';

const { memoryCareEveryMs, idleShare, idleWorthMs } = storeLimits;

/** Checks periodically until it is closed. Cost: a collection of some 50 ms after much work. */
export function careForMemory(): { close(): void } {
  let seen = workedMs();
  let collected = seen;
  const timer = setInterval(() => {
    dropFilePages();
    const now = workedMs();
    const quiet = now - seen < memoryCareEveryMs * idleShare;
    seen = now;
    if (!quiet || now - collected < idleWorthMs) return;
    collected = now;
    collectGarbage();
  }, memoryCareEveryMs).unref();
  return { close: () => clearInterval(timer) };
}

function workedMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
