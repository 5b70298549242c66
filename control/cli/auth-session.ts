/** Calls an API with the session of `waf auth login`, which is refreshed when it is due. */

import { createClient, type Interceptor, type Transport } from '@connectrpc/connect';
import { AuthService } from '../../proto/gen/waf/v1/auth_pb.ts';
import { readSession, withLock, writeSession, type StoredSession } from './auth-credentials.ts';

const refreshAheadMs = 60_000;
const refreshCookie = 'waf_refresh';

/** Adds the access token of the stored session; without one, calls go out as they are. */
export function storedSession(file: string, api: string, plain: Transport): Interceptor {
  return (next) => async (request) => {
    const session = await currentSession(file, api, plain);
    if (session !== undefined) {
      request.header.set('Authorization', `Bearer ${session.accessToken}`);
    }
    return next(request);
  };
}

async function currentSession(
  file: string,
  api: string,
  plain: Transport,
): Promise<StoredSession | undefined> {
  const session = readSession(file, api);
  if (session === undefined || !isDue(session)) return session;
  return withLock(file, async () => {
    // Another command may have refreshed it meanwhile; the old cookie would end the session.
    const found = readSession(file, api);
    if (found === undefined || !isDue(found)) return found;
    return refresh(file, api, plain, found);
  });
}

async function refresh(
  file: string,
  api: string,
  plain: Transport,
  session: StoredSession,
): Promise<StoredSession> {
  const cookies = new Headers();
  const response = await createClient(AuthService, plain).refresh(
    {},
    { headers: cookieOf(session.refreshToken), onHeader: (header) => copyCookies(header, cookies) },
  );
  const fresh: StoredSession = {
    ...session,
    accessToken: response.accessToken,
    expiresAt: timeOf(response.expiresAt),
    refreshToken: cookieNamed(cookies, refreshCookie) || session.refreshToken,
  };
  writeSession(file, api, fresh);
  return fresh;
}

function isDue({ expiresAt, refreshToken }: StoredSession): boolean {
  // An API token cannot be refreshed: the server says when it has ended.
  if (refreshToken === '') return false;
  return Date.parse(expiresAt) - refreshAheadMs < Date.now();
}

/** Header that sends a refresh token back. */
export function cookieOf(refreshToken: string): { readonly Cookie: string } {
  return { Cookie: `${refreshCookie}=${refreshToken}` };
}

/** Keeps the cookies of an answer. */
export function copyCookies(from: Headers, to: Headers): void {
  for (const one of from.getSetCookie()) to.append('set-cookie', one);
}

/** Value of the newest cookie of a name; '' when there is none. */
export function cookieNamed(headers: Headers, name: string): string {
  const pairs = headers.getSetCookie().map((one) => one.split(';', 1)[0] ?? '');
  return pairs.findLast((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1) ?? '';
}

/** A time of a message as text; '' when there is none. */
export function timeOf(time: { readonly seconds: bigint } | undefined): string {
  return time === undefined ? '' : new Date(Number(time.seconds) * 1000).toISOString();
}
