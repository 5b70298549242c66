/**
 * The one error type that crosses rooms. Never holds text from outside the product: what a client
 * or an origin sent belongs in events, not in messages.
 */

/** Who has to act: the client, the origin, the operator's configuration, the disk, or us. */
export type ErrorSource = 'client' | 'upstream' | 'config' | 'storage' | 'internal';

/** Who has to act on an error, and its cause. */
export interface AppErrorOptions {
  readonly source: ErrorSource;
  /** True when the same call may succeed later without any change. */
  readonly retryable?: boolean;
  readonly cause?: unknown;
}

/** An operating error with a stable code; a verdict is data and is never thrown as one of these. */
export class AppError extends Error {
  readonly code: string;
  readonly source: ErrorSource;
  readonly retryable: boolean;

  constructor(code: string, message: string, options: AppErrorOptions) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'AppError';
    this.code = code;
    this.source = options.source;
    this.retryable = options.retryable ?? false;
  }
}

/** Turns anything thrown into an AppError, keeping the original as the cause. */
export function toAppError(thrown: unknown, code = 'internal'): AppError {
  if (thrown instanceof AppError) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new AppError(code, message, { source: 'internal', cause: thrown });
}

/** Code of the error with which inspection ends when its time is up. */
export const inspectionDeadline = 'inspection_deadline';

/** Code of the error with which inspection fails where no policy serves the site. */
export const policyAbsent = 'policy_absent';

/** Code of what applying a configuration fails with when a later one takes its place. */
export const supersededCode = 'superseded';
