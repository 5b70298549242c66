/** `waf auth logout`: ends the session at a remote API and forgets it. */

import { AppError } from '../../../base/errors.ts';
import type { CommandDefinition } from '../command.ts';

/** The command. */
export const authLogoutCommand: CommandDefinition = {
  path: ['auth', 'logout'],
  summary: 'Sign out at a remote API',
  help: 'What is kept here is removed even when the API cannot be reached.',
  run: async ({ options, output }) => {
    if (options.api === undefined) {
      throw new AppError('bad_flag', 'auth logout wants --api (or WAF_API)', { source: 'config' });
    }
    const { openTransport, readBaseUrl } = await import('../api-client.ts');
    const { createClient } = await import('@connectrpc/connect');
    const { AuthService } = await import('../../../proto/gen/waf/v1/auth_pb.ts');
    const { cookieOf } = await import('../auth-session.ts');
    const { readSession, withLock, writeSession } = await import('../auth-credentials.ts');
    const api = readBaseUrl(options.api);
    const auth = createClient(AuthService, openTransport(options, []));
    const ended = await withLock(options.credentials, async () => {
      const session = readSession(options.credentials, api);
      if (session === undefined) return null;
      writeSession(options.credentials, api, null);
      const { loggedOut } = await auth.logout({}, { headers: cookieOf(session.refreshToken) });
      return loggedOut;
    });
    if (ended === null) output.note(`nobody is signed in at ${api}`);
    const rows = [[api, ended === true ? 'yes' : 'no']];
    output.result({ api, loggedOut: ended === true }, { columns: ['API', 'SESSION ENDED'], rows });
    return ended === null ? 1 : 0;
  },
};
