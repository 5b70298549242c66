/** `waf session ...`: who is signed in, and the end of a session. */

import type { CommandDefinition } from '../command.ts';
import { switchFlag } from '../command.ts';
import { notePage, pageFlags, readPage } from '../paging.ts';
import { showMessage, timeText } from '../show.ts';

/** Commands on sessions. */
export const sessionCommands: readonly CommandDefinition[] = [
  {
    path: ['session', 'list'],
    summary: 'List your sessions',
    help: '',
    arguments: [],
    flags: [{ flags: '--all-users', summary: 'those of everybody; needs user:read' }, ...pageFlags],
    run: async (context, _args, flags) => {
      const { sessions } = await context.api();
      const allUsers = switchFlag(flags, 'allUsers');
      const response = await sessions.listSessions({ page: readPage(flags), allUsers });
      await showMessage(context, response, {
        columns: ['ID', 'USER', 'SINCE', 'REFRESHED', 'FROM', 'HOW', 'THIS ONE'],
        rows: response.items.map((one) => [
          one.id,
          one.username,
          timeText(one.createdAt),
          timeText(one.refreshedAt),
          one.address,
          one.method,
          one.current ? 'yes' : '',
        ]),
      });
      notePage(context.output, response.items.length, response.page?.total);
      return 0;
    },
  },
  {
    path: ['session', 'end'],
    summary: 'End a session at once',
    help: 'Sessions of others need user:write.',
    arguments: [{ name: '<id>', summary: 'id of the session; see session list' }],
    flags: [],
    run: async (context, [id = '']) => {
      const { sessions } = await context.api();
      const response = await sessions.endSession({ id });
      await showMessage(context, response, {
        columns: ['SESSION', 'ENDED'],
        rows: [[id, response.ended ? 'yes' : 'no']],
      });
      return 0;
    },
  },
];
