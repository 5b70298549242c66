/**
 * Has the default policy compiled before a site needs it: the engine keeps the databases on disk,
 * so that a new site serves at once also on the first day.
 */

import { toAppError } from '../../../base/errors.ts';
import { policies } from '../../store/collections.ts';
import type { Uses } from '../context.ts';
import { forEngine } from '../policy-service/compile.ts';

/** Asks the local engine to compile the default policy; failures are only logged. */
export async function warmDefaultPolicy(parts: Uses<'store' | 'logger' | 'engine'>): Promise<void> {
  const found = parts.store.list(policies).find((policy) => policy.isDefault === true);
  if (found === undefined) return;
  try {
    await parts.engine.plan(forEngine(parts, found));
  } catch (error) {
    parts.logger.debug('the default policy was not compiled ahead', {
      reason: toAppError(error).message,
    });
  }
}
