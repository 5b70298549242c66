/** Owns AuthService/Login and CompleteAuthenticationChallenge. */

import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { HandlerContext } from '@connectrpc/connect';
import type { AuthService } from '../../../proto/gen/waf/v1/auth_pb.ts';
import { refusal } from '../../domain/errors.ts';
import { addressKey, type ApiParts } from '../context.ts';
import { requireText } from '../convert.ts';
import type { Method } from '../method.ts';
import { clearCookie, readCookie, setCookie } from './cookie.ts';
import { toCurrentUser } from './current-user.ts';

/** Starts a session, or opens a challenge; tokens for later go into cookies only. */
export function login(parts: ApiParts): Method<typeof AuthService, 'login'> {
  return async (request, context) => {
    requireText(request.username, 'username');
    requireText(request.password, 'password');
    const address = context.values.get(addressKey);
    const result = await parts.signIn.password(request.username, request.password, address);
    if (result.kind === 'user') return begin(parts, context, result.userId, address);
    const { challenge, expiresAtMs } = result;
    setCookie(context, 'waf_challenge', challenge, expiresAtMs, parts.secureCookies);
    return {
      challengeRequired: true,
      challengeKind: 'totp',
      challengePrompt: 'Enter the code of your authenticator app',
      recoveryCodeAllowed: true,
    };
  };
}

/** Answers the challenge of the cookie. */
export function completeAuthenticationChallenge(
  parts: ApiParts,
): Method<typeof AuthService, 'completeAuthenticationChallenge'> {
  return async (request, context) => {
    requireText(request.code, 'code');
    const challenge = readCookie(context, 'waf_challenge');
    if (challenge === '') throw refusal('unauthenticated', 'no challenge cookie: sign in first');
    const address = context.values.get(addressKey);
    const userId = await parts.signIn.answer(challenge, request.code, address);
    clearCookie(context, 'waf_challenge', parts.secureCookies);
    return begin(parts, context, userId, address);
  };
}

async function begin(parts: ApiParts, context: HandlerContext, userId: string, address: string) {
  const issued = await parts.sessions.begin(userId, address);
  const { refreshToken, refreshExpiresAtMs } = issued;
  setCookie(context, 'waf_refresh', refreshToken, refreshExpiresAtMs, parts.secureCookies);
  return {
    accessToken: issued.accessToken,
    expiresAt: timestampFromMs(issued.accessExpiresAtMs),
    user: toCurrentUser(parts.store, issued.user),
  };
}
