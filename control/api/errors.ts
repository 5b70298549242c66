/** How failures reach clients: a code, a text of ours, nothing from outside and no internals. */

import { Code, ConnectError, type Interceptor } from '@connectrpc/connect';
import { AppError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';

const codes: Readonly<Record<string, Code>> = {
  invalid_argument: Code.InvalidArgument,
  not_found: Code.NotFound,
  already_exists: Code.AlreadyExists,
  aborted: Code.Aborted,
  failed_precondition: Code.FailedPrecondition,
  permission_denied: Code.PermissionDenied,
  unauthenticated: Code.Unauthenticated,
  resource_exhausted: Code.ResourceExhausted,
  unavailable: Code.Unavailable,
  events_unreadable: Code.Unavailable,
  unimplemented: Code.Unimplemented,
  store_full: Code.ResourceExhausted,
  store_failed: Code.Unavailable,
  store_away: Code.Unavailable,
  store_unconfirmed: Code.Unavailable,
  store_conflict: Code.Aborted,
  store_layout: Code.Unavailable,
  store_diverged: Code.Unavailable,
};

/** What Node says where a client is gone, such as a killed engine: nothing failed here. */
const goneCodes = ['ERR_HTTP2_INVALID_STREAM', 'ERR_STREAM_PREMATURE_CLOSE'];

/** The error that a client gets for anything thrown; what is unexpected is logged. */
export function toConnectError(thrown: unknown, logger: Logger, where: string): ConnectError {
  if (thrown instanceof ConnectError) return thrown;
  if (thrown instanceof AppError) {
    const code = codes[thrown.code];
    if (code !== undefined) return new ConnectError(thrown.message, code);
    if (thrown.source === 'config' || thrown.source === 'client') {
      return new ConnectError(thrown.message, Code.FailedPrecondition);
    }
  }
  const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : '';
  if (goneCodes.includes(code)) return new ConnectError('the client is gone', Code.Canceled);
  logger.error('an RPC failed', {
    rpc: where,
    reason: thrown instanceof Error ? thrown.message : 'unknown',
    stack: thrown instanceof Error ? (thrown.stack ?? '') : '',
  });
  return new ConnectError('internal error; the log of the service says more', Code.Internal);
}

/** Turns what methods throw into RPC errors, also when a stream is under way. */
export function errorInterceptor(logger: Logger): Interceptor {
  return (next) => async (request) => {
    const where = `${request.service.typeName}/${request.method.name}`;
    try {
      const response = await next(request);
      if (!response.stream) return response;
      return { ...response, message: rethrowing(response.message, logger, where) };
    } catch (thrown) {
      throw toConnectError(thrown, logger, where);
    }
  };
}

async function* rethrowing<T>(
  messages: AsyncIterable<T>,
  logger: Logger,
  where: string,
): AsyncGenerator<T> {
  try {
    yield* messages;
  } catch (thrown) {
    throw toConnectError(thrown, logger, where);
  }
}
