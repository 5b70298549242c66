/** AuthService/Login and CompleteAuthenticationChallenge. */

import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { HandlerContext } from '@connectrpc/connect';
import type { AuthService } from '../../../proto/gen/waf/v1/auth_pb.ts';
import type { Proof } from '../../auth/lock-out.ts';
import { consolePlace } from '../../auth/passkeys.ts';
import type { Beginning } from '../../auth/sessions.ts';
import type { SignInResult } from '../../auth/sign-in-challenges.ts';
import { invalidField, refusal } from '../../domain/errors.ts';
import { publicUrlOf } from '../../domain/settings/identity-settings.ts';
import { settingsId, systemSettings } from '../../store/collections.ts';
import { addressKey, type Uses } from '../context.ts';
import { requireText } from '../convert.ts';
import type { Method } from '../method.ts';
import { clearCookie, readCookie, setCookie } from './cookie.ts';
import { toCurrentUser } from './current-user.ts';

/** Starts a session, or opens a challenge; tokens for later go into cookies only. */
export function login(
  parts: Uses<'store' | 'sessions' | 'signIn' | 'secureCookies'>,
): Method<typeof AuthService, 'login'> {
  return async ({ username, password, remember }, context) => {
    requireText(username, 'username');
    requireText(password, 'password');
    const address = context.values.get(addressKey);
    const result = await parts.signIn.password({ username, password, address, remember });
    return goOn(parts, context, result, 'password');
  };
}

/** Answers the challenge of the cookie. */
export function completeAuthenticationChallenge(
  parts: Uses<'store' | 'sessions' | 'signIn' | 'secureCookies'>,
): Method<typeof AuthService, 'completeAuthenticationChallenge'> {
  return async (request, context) => {
    const { code, credentialJson, beginPasskey } = request;
    if (credentialJson === '' && !beginPasskey) requireText(code, 'code');
    else if (code !== '') throw invalidField('code', 'is empty where a passkey answers');
    const challenge = readCookie(context, 'waf_challenge');
    if (challenge === '') throw refusal('unauthenticated', 'no challenge cookie: sign in first');
    if (beginPasskey) {
      const { values = {} } = parts.store.get(systemSettings, settingsId) ?? {};
      const origin = context.requestHeader.get('origin') ?? '';
      const place = consolePlace(origin, publicUrlOf(values));
      const passkeyOptionsJson = await parts.signIn.beginPasskey(challenge, place);
      return { challengeRequired: true, passkeyAllowed: true, passkeyOptionsJson };
    }
    const address = context.values.get(addressKey);
    const result =
      credentialJson === ''
        ? await parts.signIn.answer(challenge, code, address)
        : await parts.signIn.answerPasskey(challenge, credentialJson, address);
    if (result.kind === 'user') clearCookie(context, 'waf_challenge', parts.secureCookies);
    return goOn(parts, context, result, 'challenge');
  };
}

async function goOn(
  parts: Uses<'store' | 'sessions' | 'secureCookies'>,
  context: HandlerContext,
  result: SignInResult,
  method: string,
) {
  if (result.kind === 'challenge') {
    const { challenge, expiresAtMs, challengeKind, prompt, passkeyAllowed } = result;
    setCookie(context, 'waf_challenge', challenge, expiresAtMs, parts.secureCookies);
    return {
      challengeRequired: true,
      challengeKind,
      challengePrompt: prompt,
      recoveryCodeAllowed: challengeKind === 'totp',
      passkeyAllowed,
    };
  }
  return beginSession(parts, context, result.proof, { method, remember: result.remember });
}

/** Starts a session for who has proved everything that is asked. Errors: unauthenticated. */
export async function beginSession(
  parts: Uses<'store' | 'sessions' | 'secureCookies'>,
  context: HandlerContext,
  proof: Proof,
  { method, remember }: Omit<Beginning, 'address'>,
) {
  const address = context.values.get(addressKey);
  const issued = await parts.sessions.begin(proof, { address, method, remember });
  const { refreshToken, refreshExpiresAtMs } = issued;
  const expiresAtMs = remember ? refreshExpiresAtMs : null;
  setCookie(context, 'waf_refresh', refreshToken, expiresAtMs, parts.secureCookies);
  return {
    accessToken: issued.accessToken,
    expiresAt: timestampFromMs(issued.accessExpiresAtMs),
    user: toCurrentUser(parts.store, issued.user),
  };
}
