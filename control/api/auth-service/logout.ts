/** AuthService/Logout. */

import type { AuthService } from '../../../proto/gen/waf/v1/auth_pb.ts';
import { callerKey, type Uses } from '../context.ts';
import type { Method } from '../method.ts';
import { clearCookie, readCookie } from './cookie.ts';

/** Ends the session of the cookie, or without one that of the bearer token. */
export function logout(
  parts: Uses<'sessions' | 'secureCookies'>,
): Method<typeof AuthService, 'logout'> {
  return async (_request, context) => {
    const token = readCookie(context, 'waf_refresh');
    const sessionId = context.values.get(callerKey)?.sessionId ?? '';
    const loggedOut =
      token === '' ? await parts.sessions.end(sessionId) : await parts.sessions.logout(token);
    clearCookie(context, 'waf_refresh', parts.secureCookies);
    return { loggedOut };
  };
}
