/** What the built-in node made of the country set: active is what it applied, nothing else. */

import type { Uses } from './context.ts';
import { deploymentOf } from './deployment.ts';

const statuses = {
  pending: 'pending',
  applying: 'activating',
  failed: 'failed',
  applied: 'active',
} as const;

/** What the built-in node made of the country set that the configuration carries. */
export function countryActivation(parts: Uses<'publisher' | 'nodes'>, sha256: string) {
  const { state, error, answeredAtMs } = deploymentOf(parts);
  const at = answeredAtMs === 0 ? null : new Date(answeredAtMs).toISOString();
  return {
    activationStatus: statuses[state],
    ...(at === null ? {} : { activationAttemptedAt: at }),
    ...(state === 'failed' ? { lastActivationError: error } : {}),
    ...(state === 'applied' ? { activatedSha256: sha256 } : {}),
    ...(state === 'applied' && at !== null ? { activatedAt: at } : {}),
  };
}
