/** `waf auth login`: signs in at a remote API and keeps the session. */

import { AppError } from '../../../base/errors.ts';
import type {
  CompleteAuthenticationChallengeResponse,
  LoginResponse,
} from '../../../proto/gen/waf/v1/auth_pb.ts';
import type { CommandDefinition } from '../command.ts';
import { switchFlag, textFlag } from '../command.ts';

type Answer = LoginResponse | CompleteAuthenticationChallengeResponse;

const roundsMax = 10;

/** The command. */
export const authLoginCommand: CommandDefinition = {
  path: ['auth', 'login'],
  summary: 'Sign in at a remote API',
  help:
    'The password is asked for without echo. The session is kept in a file of yours, mode 0600,\n' +
    'and refreshed when it is due. Example: waf auth login --api https://waf.example:9443',
  flags: [
    { flags: '--username <name>', summary: 'who signs in; asked for when left out' },
    { flags: '--password-stdin', summary: 'read the password from standard input' },
    { flags: '--code <code>', summary: 'code of the second factor; asked for when left out' },
    { flags: '--api-token', summary: 'keep an API token, read from standard input, instead' },
  ],
  run: async (context, _args, flags) => {
    const { options, output } = context;
    if (options.api === undefined) {
      throw new AppError(
        'bad_flag',
        'auth login wants --api (or WAF_API): the local socket needs no sign-in',
        { source: 'config' },
      );
    }
    const { openTransport, readBaseUrl } = await import('../api-client.ts');
    const { createClient } = await import('@connectrpc/connect');
    const { AuthService } = await import('../../../proto/gen/waf/v1/auth_pb.ts');
    const { cookieNamed, copyCookies, timeOf } = await import('../auth-session.ts');
    const { withLock, writeSession } = await import('../auth-credentials.ts');
    const { askLine, askSecret, readSecretLine } = await import('../auth-prompt.ts');
    const api = readBaseUrl(options.api);
    if (switchFlag(flags, 'apiToken')) {
      const { keepApiToken } = await import('./keep-api-token.ts');
      return keepApiToken(context, api);
    }
    const auth = createClient(AuthService, openTransport(options, []));
    const username = textFlag(flags, 'username') ?? (await askLine('User name: ', '--username'));
    const password = switchFlag(flags, 'passwordStdin')
      ? await readSecretLine()
      : await askSecret('Password: ', '--password-stdin');
    const cookies = new Headers();
    const onHeader = (header: Headers): void => copyCookies(header, cookies);
    let answer: Answer = await auth.login({ username, password, remember: true }, { onHeader });
    for (let round = 0; answer.challengeRequired && round < roundsMax; round++) {
      if (answer.challengeKind === 'passkey') {
        const advice = 'sign in with a browser, or use an API token (--api-token)';
        const text = `the account asks for a passkey, which no terminal has: ${advice}`;
        throw new AppError('unauthenticated', text, { source: 'client' });
      }
      const given = round === 0 ? textFlag(flags, 'code') : undefined;
      const hint = answer.recoveryCodeAllowed ? ' (or a recovery code)' : '';
      const code = given ?? (await askSecret(`${answer.challengePrompt}${hint}: `, '--code'));
      const headers = { Cookie: `waf_challenge=${cookieNamed(cookies, 'waf_challenge')}` };
      answer = await auth.completeAuthenticationChallenge({ code }, { headers, onHeader });
    }
    const { accessToken, expiresAt, user } = answer;
    if (accessToken === '') {
      throw new AppError('unauthenticated', 'the sign-in did not come to an end: try again', {
        source: 'client',
      });
    }
    const session = {
      username: user?.username ?? username,
      accessToken,
      expiresAt: timeOf(expiresAt),
      refreshToken: cookieNamed(cookies, 'waf_refresh'),
    };
    await withLock(options.credentials, () => {
      writeSession(options.credentials, api, session);
      return Promise.resolve();
    });
    output.result(
      { api, username: session.username, expiresAt: session.expiresAt },
      {
        columns: ['API', 'USER', 'TOKEN UNTIL'],
        rows: [[api, session.username, session.expiresAt]],
      },
    );
    return 0;
  },
};
