/** `waf auth logout`, `whoami`, `permissions` and `password`. */

import { AppError } from '../../../base/errors.ts';
import type { CommandDefinition } from '../command.ts';
import { callCommand } from '../regular-commands.ts';

const logout: CommandDefinition = {
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

const password: CommandDefinition = {
  path: ['auth', 'password'],
  summary: 'Change your own password',
  help: 'Asks for the old and the new password without echo; your other sessions end.',
  run: async (context) => {
    const { askSecret, readNewPassword } = await import('../auth-prompt.ts');
    const { auth } = await context.api();
    const currentPassword = await askSecret('Present password: ', 'a terminal');
    const newPassword = await readNewPassword(false, 'New password');
    const { changed } = await auth.changePassword({ currentPassword, newPassword });
    context.output.result({ changed }, { columns: ['CHANGED'], rows: [['yes']] });
    return 0;
  },
};

/** Commands on the caller's own account, beside signing in and second factors. */
export const authCommands: readonly CommandDefinition[] = [
  logout,
  callCommand({
    path: ['auth', 'whoami'],
    summary: 'Show who calls the API',
    call: ({ auth }) => auth.getUserInfo({}),
    table: ({ user }) => ({
      columns: ['USER', 'NAME', 'MAIL', 'ROLES', 'PERMISSIONS'],
      rows: [
        [
          user?.username ?? '',
          user?.displayName ?? '',
          user?.email ?? '',
          user?.roles.join(', ') ?? '',
          String(user?.accessCodes.length ?? 0),
        ],
      ],
    }),
  }),
  callCommand({
    path: ['auth', 'permissions'],
    summary: 'List the permissions of the caller',
    call: ({ auth }) => auth.getAccessCodes({}),
    table: ({ codes }) => ({ columns: ['PERMISSION'], rows: codes.map((code) => [code]) }),
  }),
  password,
];
