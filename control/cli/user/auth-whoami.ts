/** `waf auth whoami` and `waf auth permissions`: who calls, and what the caller may do. */

import type { CommandDefinition } from '../command.ts';
import { showMessage } from '../show.ts';

/** Who calls. */
export const authWhoamiCommand: CommandDefinition = {
  path: ['auth', 'whoami'],
  summary: 'Show who calls the API',
  run: async (context) => {
    const { auth } = await context.api();
    const response = await auth.getUserInfo({});
    const { user } = response;
    return showMessage(context, response, {
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
    });
  },
};

/** What the caller may do. */
export const authPermissionsCommand: CommandDefinition = {
  path: ['auth', 'permissions'],
  summary: 'List the permissions of the caller',
  run: async (context) => {
    const { auth } = await context.api();
    const response = await auth.getAccessCodes({});
    return showMessage(context, response, {
      columns: ['PERMISSION'],
      rows: response.codes.map((code) => [code]),
    });
  },
};
