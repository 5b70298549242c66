/** The question whether the product serves: /readyz on the administration socket. */

import { request } from 'node:http';
import { supervisorLimits } from '../limits/command-limits.ts';

/**
 * Resolves when /readyz answers 200, or after half a minute: the children said that they are ready,
 * so a missing answer is not worth failing for. `stop` ends waiting. Resolves to whether it did.
 */
export async function waitUntilReady(socketPath: string, stop?: AbortSignal): Promise<boolean> {
  const deadline = performance.now() + supervisorLimits.readinessTimeoutMs;
  while (performance.now() < deadline && stop?.aborted !== true) {
    const status = await probe(socketPath);
    if (status === 200) return true;
    if (status !== 0 && status !== 503) return false;
    await new Promise((resolve) => setTimeout(resolve, supervisorLimits.readinessPollMs));
  }
  return false;
}

/** Status of one GET; 0 when there is no answer. */
function probe(socketPath: string): Promise<number> {
  return new Promise((resolve) => {
    const call = request({ socketPath, path: '/readyz', timeout: 2000 }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    call.on('error', () => resolve(0));
    call.on('timeout', () => call.destroy());
    call.end();
  });
}
