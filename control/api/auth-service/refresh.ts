/** AuthService/Refresh. */

import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { AuthService } from '../../../proto/gen/waf/v1/auth_pb.ts';
import { refusal } from '../../domain/errors.ts';
import type { Uses } from '../context.ts';
import type { Method } from '../method.ts';
import { readCookie, setCookie } from './cookie.ts';

/** A new access token; the cookie rotates. */
export function refresh(
  parts: Uses<'sessions' | 'secureCookies'>,
): Method<typeof AuthService, 'refresh'> {
  return async (request, context) => {
    const token = readCookie(context, 'waf_refresh') || request.refreshToken;
    if (token === '') throw refusal('unauthenticated', 'no refresh cookie: sign in again');
    const issued = await parts.sessions.refresh(token);
    const expiresAtMs = issued.remember ? issued.refreshExpiresAtMs : null;
    setCookie(context, 'waf_refresh', issued.refreshToken, expiresAtMs, parts.secureCookies);
    return {
      accessToken: issued.accessToken,
      expiresAt: timestampFromMs(issued.accessExpiresAtMs),
    };
  };
}
