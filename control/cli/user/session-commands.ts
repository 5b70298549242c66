/** `waf session ...`: who is signed in, and the end of a session. */

import type { Session } from '../../../proto/gen/waf/access/v1/session_pb.ts';
import type { CommandDefinition } from '../command.ts';
import { switchFlag } from '../command.ts';
import { callCommand, listCommand } from '../regular-commands.ts';
import { timeText } from '../show.ts';

/** Commands on sessions. */
export const sessionCommands: readonly CommandDefinition[] = [
  listCommand({
    path: ['session', 'list'],
    summary: 'List your sessions',
    flags: [{ flags: '--all-users', summary: 'those of everybody; needs user:read' }],
    call: ({ sessions }, { page }, _args, flags) =>
      sessions.listSessions({ page, allUsers: switchFlag(flags, 'allUsers') }),
    table: (items: readonly Session[]) => ({
      columns: ['ID', 'USER', 'SINCE', 'REFRESHED', 'FROM', 'HOW', 'THIS ONE'],
      rows: items.map((one) => [
        one.id,
        one.username,
        timeText(one.createdAt),
        timeText(one.refreshedAt),
        one.address,
        one.method,
        one.current ? 'yes' : '',
      ]),
    }),
  }),
  callCommand({
    path: ['session', 'end'],
    summary: 'End a session at once',
    help: 'Sessions of others need user:write.',
    arguments: [{ name: '<id>', summary: 'id of the session; see session list' }],
    call: ({ sessions }, [id = '']) => sessions.endSession({ id }),
    table: (response, [id = '']) => ({
      columns: ['SESSION', 'ENDED'],
      rows: [[id, response.ended ? 'yes' : 'no']],
    }),
  }),
];
