/**
 * Who is signed in. The access token stays in memory; the refresh token is a cookie that no script
 * reads. A call that meets an ended session waits until the person signed in again.
 */

import { signal } from '@preact/signals';
import { Code, ConnectError, createClient, type Interceptor } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-web';
import { AuthService, type LoginResponse } from '../../proto/gen/waf/v1/auth_pb.ts';

/** Where the session stands; `ended` keeps the page and asks for the password in place. */
export type SessionState = 'starting' | 'signed-out' | 'challenge' | 'signed-in' | 'ended';

/** The state of the session. */
export const session = signal<SessionState>('starting');
/** The name of the signed-in person, and what they may do. */
export const person = signal({
  ...{ name: '', username: '', codes: new Set<string>(), firstPassword: false },
});
/** What the server asks for beside the password: in its words, by a code, by a passkey. */
export const challenge = signal({ prompt: '', code: true, passkey: false });

/** Calls of people who are not signed in yet. */
const signInCalls: readonly string[] = [
  ...['Login', 'CompleteAuthenticationChallenge', 'Refresh', 'GetLoginOptions'],
  ...['BeginPasskeySignIn', 'FinishPasskeySignIn'],
];

let accessToken = '';
/** As it was typed to sign in, until it is replaced: nobody has to type it twice. */
let firstPassword = '';
let refreshing: Promise<boolean> | null = null;
let waiting: (() => void)[] = [];

const authorize: Interceptor = (next) => async (request) => {
  const open = signInCalls.includes(request.method.name);
  if (!open) request.header.set('authorization', `Bearer ${accessToken}`);
  try {
    return await next(request);
  } catch (error) {
    if (open || ConnectError.from(error).code !== Code.Unauthenticated) throw error;
    if (!(await refresh())) await signedInAgain();
    request.header.set('authorization', `Bearer ${accessToken}`);
    return next(request);
  }
};

/** Calls go to the address that served the page. */
export const transport = createConnectTransport({ baseUrl: '/', interceptors: [authorize] });
/** The same for streams of many messages: their binary form costs less to read than JSON. */
export const streamTransport = createConnectTransport({
  baseUrl: '/',
  useBinaryFormat: true,
  interceptors: [authorize],
});
/** The service of sign-in. */
export const auth = createClient(AuthService, transport);

/** Continues the session of the cookie, where there is one. */
export async function resume(): Promise<void> {
  if (await refresh()) return enter();
  // An identity provider sends back who has a second factor here.
  const kind = new URLSearchParams(location.search).get('challenge');
  if (kind === null) session.value = 'signed-out';
  else openChallenge({ challengePrompt: '', challengeKind: kind, passkeyAllowed: false });
}

/** Signs in with name and password. Errors: of the call. */
export async function signIn(username: string, password: string): Promise<void> {
  const answer = await auth.login({ username, password });
  firstPassword = password;
  await take(answer);
}

/** Whether the first password was typed here, so that it need not be asked for. */
export const knowsFirstPassword = (): boolean => firstPassword !== '';

/** Replaces the first password; `typed` where it is not known here. Errors: of the call. */
export async function replaceFirstPassword(typed: string, newPassword: string): Promise<void> {
  await auth.changePassword({ currentPassword: firstPassword || typed, newPassword });
  firstPassword = '';
}

/** Answers a challenge. Errors: of the call. */
export async function answerChallenge(code: string): Promise<void> {
  await take(await auth.completeAuthenticationChallenge({ code }));
}

/** Answers a challenge by a passkey. Errors: of the calls and the browser. */
export async function answerByPasskey(): Promise<void> {
  const { signByPasskey } = await import('./passkeys.ts');
  const { passkeyOptionsJson } = await auth.completeAuthenticationChallenge({ beginPasskey: true });
  const credentialJson = await signByPasskey(passkeyOptionsJson);
  await take(await auth.completeAuthenticationChallenge({ credentialJson }));
}

/** Signs in with a passkey, in place of password and code. Errors: of the calls and the browser. */
export async function signInByPasskey(): Promise<void> {
  const [{ PasskeyService }, { signByPasskey }] = await Promise.all([
    import('../../proto/gen/waf/access/v1/passkey_pb.ts'),
    import('./passkeys.ts'),
  ]);
  const passkeys = createClient(PasskeyService, transport);
  const { signInToken, optionsJson } = await passkeys.beginPasskeySignIn({});
  const credentialJson = await signByPasskey(optionsJson);
  ({ accessToken } = await passkeys.finishPasskeySignIn({ signInToken, credentialJson }));
  await enter();
}

/** Ends the session here and on the server. */
export async function signOut(): Promise<void> {
  try {
    await auth.logout({});
  } finally {
    accessToken = '';
    firstPassword = '';
    session.value = 'signed-out';
  }
}

type Asked = Pick<LoginResponse, 'challengePrompt' | 'challengeKind' | 'passkeyAllowed'>;

async function take(
  answer: Asked & Pick<LoginResponse, 'accessToken' | 'challengeRequired'>,
): Promise<void> {
  if (answer.challengeRequired) return openChallenge(answer);
  accessToken = answer.accessToken;
  await enter();
}

function openChallenge({ challengePrompt, challengeKind, passkeyAllowed }: Asked): void {
  firstPassword = '';
  const code = challengeKind !== 'passkey';
  challenge.value = { prompt: challengePrompt, code, passkey: passkeyAllowed || !code };
  session.value = 'challenge';
}

async function enter(): Promise<void> {
  const [{ user }, { codes }] = await Promise.all([auth.getUserInfo({}), auth.getAccessCodes({})]);
  person.value = {
    name: user?.displayName || user?.username || '',
    username: user?.username ?? '',
    codes: new Set(codes),
    firstPassword: user?.firstPassword === true,
  };
  if (!person.value.firstPassword) firstPassword = '';
  session.value = 'signed-in';
  for (const resolve of waiting.splice(0)) resolve();
}

/** One refresh at a time: a refresh cookie is used once. */
function refresh(): Promise<boolean> {
  refreshing ??= auth
    .refresh({})
    .then(
      (answer) => {
        ({ accessToken } = answer);
        return true;
      },
      () => false,
    )
    .finally(() => {
      refreshing = null;
    });
  return refreshing;
}

function signedInAgain(): Promise<void> {
  session.value = 'ended';
  return new Promise((resolve) => {
    waiting = [...waiting, resolve];
  });
}
