/** Fields of a part, named by their place in the whole request or document. */

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

/** Runs a check whose errors name `from`, and names the field of the document instead. */
export function atField<T>(field: string, from: string, check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const rest = error.message.startsWith(`${from}.`)
      ? error.message.slice(from.length)
      : `: ${error.message}`;
    throw new AppError(error.code, `${field}${rest}`, { source: error.source, cause: error });
  }
}
