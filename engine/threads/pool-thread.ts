/** Composition root of one pool thread: policy engines that the pool calls by messages. */

import { workerData } from 'node:worker_threads';
import type { ThreadSettings } from './thread-settings.ts';
import type { PooledPolicy } from '../policies/policy-registry.ts';
import { createPoolWorker } from '../pool/worker.ts';
import { threadCpuUs } from '../system/thread-time.ts';
import { threadParts } from './thread-parts.ts';

// It may have to wait for a core, and its requests with it: they answer for its work only.
const parts = threadParts('pool', poolSettings(workerData), { workedUs: threadCpuUs });

/** Piscina wraps what its creator passes. */
function poolSettings(raw: unknown): ThreadSettings {
  return (Array.isArray(raw) ? (raw[1] as ThreadSettings) : raw) as ThreadSettings;
}

// Piscina takes the handler from the module's default export.
// oxlint-disable-next-line import/no-default-export
export default createPoolWorker((loaded) => {
  const { policy, shared } = loaded as PooledPolicy;
  parts.useShared(shared);
  try {
    return parts.build(policy);
  } finally {
    parts.useShared(new Map());
    parts.takeAttached();
  }
}, parts.ports.reportFailure);
