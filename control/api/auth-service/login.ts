/** Owns AuthService/Login. */

import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { AuthService } from '../../../proto/gen/waf/v1/auth_pb.ts';
import { addressKey, type ApiParts } from '../context.ts';
import { requireText } from '../convert.ts';
import type { Method } from '../method.ts';
import { setRefreshCookie } from './cookie.ts';
import { toCurrentUser } from './current-user.ts';

/** Starts a session; the refresh token goes into the cookie only. */
export function login(parts: ApiParts): Method<typeof AuthService, 'login'> {
  return async (request, context) => {
    requireText(request.username, 'username');
    requireText(request.password, 'password');
    const address = context.values.get(addressKey);
    const issued = await parts.sessions.login(request.username, request.password, address);
    setRefreshCookie(context, issued.refreshToken, issued.refreshExpiresAtMs, parts.secureCookies);
    return {
      accessToken: issued.accessToken,
      expiresAt: timestampFromMs(issued.accessExpiresAtMs),
      user: toCurrentUser(parts.store, issued.user),
    };
  };
}
