/** Owns the pool of the micro benchmarks: one thread that runs the policy as the engine's does. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { systemClock } from '../../engine/base/clock.ts';
import { createLogger } from '../../engine/base/log.ts';
import type { Inspector } from '../../engine/contract/inspection.ts';
import type { PolicySource } from '../../engine/contract/policy.ts';
import { Pool } from '../../engine/pool/dispatch.ts';

/** A cold cache makes the thread compile rule databases first. */
const deadlineMs = 300_000;

/** Starts the pool and waits until the policy is ready. Errors: when the engine is not compiled. */
export async function startPool(
  root: string,
  source: PolicySource,
  cacheFolder: string,
): Promise<{ readonly inspector: Inspector; readonly close: () => Promise<void> }> {
  const file = join(root, '.build', 'engine', 'pool-thread.js');
  if (!existsSync(file)) throw new Error(`${file} is missing`);
  const pool = new Pool({
    workerFile: pathToFileURL(file),
    workerData: { cacheFolder },
    clock: systemClock,
    log: createLogger('bench', 'error'),
    deadlineMs,
    threads: 1,
  });
  pool.load('bench', source);
  await pool.settled();
  return {
    inspector: { open: (request) => pool.open('bench', request, 'closed') },
    close: () => pool.close(),
  };
}
