/**
 * Ends streams with the session that opened them: by sign-out, a lock, a changed password or role,
 * or the session's time. Unary calls are over too soon to matter.
 */

import { Code, ConnectError, type Interceptor } from '@connectrpc/connect';
import { joinSignals } from '../../base/time-limit.ts';
import { callLimits } from '../limits/call-limits.ts';
import { meets, type Caller } from '../auth/permissions.ts';
import type { Sessions } from '../auth/sessions.ts';
import { ruleOf } from './authorize.ts';
import { callerKey } from './context.ts';

/** Gives streams of signed-in users a signal that their session's end aborts. */
export function sessionEndInterceptor(sessions: Sessions): Interceptor {
  return (next) => async (request) => {
    const caller = request.contextValues.get(callerKey);
    if (!request.stream || caller === null || caller.sessionId === '') return next(request);
    const ended = new AbortController();
    const timer = setInterval(() => {
      if (mayGoOn(sessions, caller, request.method)) return;
      clearInterval(timer);
      ended.abort(sessionEnded());
    }, callLimits.sessionCheckMs);
    timer.unref();
    const joined = joinSignals(request.signal, ended.signal);
    const release = (): void => {
      clearInterval(timer);
      joined.end();
    };
    const answer = await next({ ...request, signal: joined.signal }).catch((error: unknown) => {
      release();
      throw error;
    });
    if (!answer.stream) return answer;
    const message = until(answer.message, ended.signal, release);
    return { ...answer, message };
  };
}

function mayGoOn(sessions: Sessions, caller: Caller, method: Parameters<typeof ruleOf>[0]) {
  const now = sessions.current(caller);
  return now !== null && meets(ruleOf(method), now.permissions);
}

function sessionEnded(): ConnectError {
  return new ConnectError('the session has ended: sign in again', Code.Unauthenticated);
}

/** The messages until `ended` aborts; then its reason is thrown. */
async function* until<T>(
  messages: AsyncIterable<T>,
  ended: AbortSignal,
  release: () => void,
): AsyncGenerator<T> {
  const source = messages[Symbol.asyncIterator]();
  const end = new Promise<null>((resolve) => {
    ended.addEventListener('abort', () => resolve(null), { once: true });
  });
  try {
    for (;;) {
      const found = await Promise.race([source.next(), end]);
      if (ended.aborted || found === null) throw sessionEnded();
      if (found.done === true) return;
      yield found.value;
    }
  } finally {
    release();
    // A generator that waits for its signal ends by it; nobody has to wait for that.
    source.return?.(undefined)?.catch(() => undefined);
  }
}
