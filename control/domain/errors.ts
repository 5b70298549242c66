/** How a decision says no: an AppError whose code is the RPC code that clients get. */

import { AppError, type ErrorSource } from '../../base/errors.ts';

/** Codes of the RPC protocol that decisions use. */
export type RpcCode =
  | 'invalid_argument'
  | 'not_found'
  | 'already_exists'
  | 'aborted'
  | 'failed_precondition'
  | 'permission_denied'
  | 'unauthenticated'
  | 'resource_exhausted'
  | 'unavailable'
  | 'unimplemented';

const sources: Partial<Record<RpcCode, ErrorSource>> = { unavailable: 'internal' };

/**
 * A refusal. `message` holds no text from outside; it says what is wrong and what would be right.
 */
export function refusal(code: RpcCode, message: string): AppError {
  return new AppError(code, message, {
    source: sources[code] ?? 'client',
    retryable: code === 'unavailable' || code === 'resource_exhausted' || code === 'aborted',
  });
}

/** invalid_argument that names the field by its JSON path. */
export function invalidField(field: string, problem: string): AppError {
  return refusal('invalid_argument', `${field}: ${problem}`);
}

/** not_found for a resource kind, for example 'site'; quotes at most 64 characters of the id. */
export function notFound(kind: string, id: string): AppError {
  return refusal('not_found', `No ${kind} with the id ${JSON.stringify(id.slice(0, 64))}.`);
}

/** What a message calls a resource: its name where that is plain text, else its id. */
export function plainName(name: string, id: string): string {
  return /^[A-Za-z0-9][A-Za-z0-9 ._:/-]{0,63}$/.test(name) ? name : id;
}
