/** Owns naming fields of a part by their place in the whole request. */

import { AppError } from '../../base/errors.ts';

/**
 * Runs a check of a part; its messages get the part's place in front, in place of `drop`, the name
 * under which the check knows the part.
 */
export function rethrownAt<T>(at: string, check: () => T, drop = ''): T {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const { code, source, retryable } = error;
    const rest = drop !== '' && error.message.startsWith(drop) ? drop.length : 0;
    throw new AppError(code, `${at}.${error.message.slice(rest)}`, { source, retryable });
  }
}
