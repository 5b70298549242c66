/** The pool of the micro benchmarks: one thread that runs the policy as the engine's does. */

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../base/clock.ts';
import { createLogger } from '../../base/log.ts';
import type { Inspector } from '../../engine/contract/inspection.ts';
import type { PolicySource } from '../../engine/contract/policy.ts';
import type { ThreadSettings } from '../../engine/threads/thread-settings.ts';
import type { PooledPolicy } from '../../engine/policies/policy-registry.ts';
import { Pool } from '../../engine/pool/dispatch.ts';

/** A cold cache makes the thread compile rule databases first. */
const deadlineMs = 300_000;

/** Starts the pool and waits until the policy is ready. */
export async function startPool(
  source: PolicySource,
  cacheFolder: string,
): Promise<{ readonly inspector: Inspector; readonly close: () => Promise<void> }> {
  const collectionsFolder = join(cacheFolder, 'collections');
  mkdirSync(collectionsFolder, { recursive: true });
  const settings: ThreadSettings = {
    ...{ place: 'pool', poolThreads: 1, sharedSocket: false, events: 'none' },
    ...{ cacheFolder, collectionsFolder, logLevel: 'error' },
    countryFile: join(cacheFolder, 'country.mmdb'),
  };
  const pool = new Pool({
    workerFile: new URL('../../engine/threads/pool-thread.js', import.meta.url),
    workerData: settings,
    clock: systemClock,
    log: createLogger('bench', 'error'),
    deadlineMs,
    threads: 1,
  });
  pool.load(
    'bench',
    { policy: { key: 'bench', source }, shared: new Map() } satisfies PooledPolicy,
    true,
  );
  pool.start();
  await pool.settled();
  const how = { policy: 'bench', recordOnly: false } as const;
  return {
    inspector: { open: (request) => pool.open(request, how) },
    close: () => pool.close(),
  };
}
