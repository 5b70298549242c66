/** `waf user roles`, `password`, `lock`, `unlock`, `reset-mfa`: what a user may do and how. */

import { againWhenChanged, readAt } from '../change-attempts.ts';
import type { CommandDefinition } from '../command.ts';
import { listFlag, switchFlag } from '../command.ts';
import { badFlag } from '../input.ts';
import { changeList, listChangeFlags, listMode, noteChange } from '../list-change.ts';
import { nameArgument } from '../named-resource.ts';
import { callCommand } from '../regular-commands.ts';
import { only, showMessage } from '../show.ts';
import { userTable } from './user-table.ts';

const userArgument = [nameArgument('user')];

/** Commands on the access of users. */
export const userAccessCommands: readonly CommandDefinition[] = [
  {
    path: ['user', 'roles'],
    summary: 'Give roles to a user, or take them away',
    help:
      'Roles are added; --replace leaves only those named, --remove takes those away, --none all.\n' +
      'The user has to sign in again.',
    arguments: userArgument,
    flags: [
      {
        flags: '--role <role>',
        summary: 'name or id of a role; repeatable',
        repeatable: true,
        resource: 'role',
      },
      { flags: '--none', summary: 'no role at all' },
      ...listChangeFlags,
    ],
    run: async (context, [userId = ''], flags) => {
      const api = await context.api();
      const given = listFlag(flags, 'role');
      if (given.length > 0 === switchFlag(flags, 'none')) {
        throw badFlag('give --role for each role, or --none');
      }
      const mode = switchFlag(flags, 'none') ? 'replace' : listMode(flags);
      const response = await againWhenChanged(async () => {
        const { user } = await api.users.getUser({ id: userId });
        const before = user?.roles ?? [];
        const present = before.map(({ id }) => id);
        const roleIds = changeList(mode, present, given, '--role');
        const expectedUpdatedAt = readAt(user?.updatedAt);
        const answer = await api.users.assignRoles({ userId, roleIds, expectedUpdatedAt });
        const nameOf = (id: string): string => before.find((one) => one.id === id)?.name ?? id;
        noteChange(context.output, 'taken away', present.map(nameOf), roleIds.map(nameOf));
        return answer;
      });
      return showMessage(context, response, userTable(only(response.user)));
    },
  },
  {
    path: ['user', 'password'],
    summary: 'Set the password of a user',
    help: 'Asked for without echo. The sessions of the user end.',
    arguments: userArgument,
    flags: [{ flags: '--password-stdin', summary: 'read the password from standard input' }],
    run: async (context, [userId = ''], flags) => {
      const { readNewPassword } = await import('../auth-prompt.ts');
      const api = await context.api();
      const fromStdin = switchFlag(flags, 'passwordStdin');
      const password = await readNewPassword(fromStdin, 'New password of the user');
      const response = await api.users.resetPassword({ userId, password });
      const rows = [[userId, response.changed ? 'yes' : 'no']];
      return showMessage(context, response, { columns: ['ID', 'CHANGED'], rows });
    },
  },
  lockCommand('lock', 'Keep a user out and end its sessions'),
  lockCommand('unlock', 'Let a user in again, also after too many wrong passwords'),
  callCommand({
    path: ['user', 'reset-mfa'],
    summary: 'Remove the second factor of a user',
    help:
      'For somebody who has lost the authenticator and the recovery codes, or the passkeys.\n' +
      'An administrator who is locked out runs it on the machine itself, over its local socket.',
    arguments: userArgument,
    call: (api, [userId = '']) => api.users.resetUserMFA({ userId }),
    table: (response, [userId = '']) => ({
      columns: ['ID', 'SECOND FACTOR'],
      rows: [[userId, response.mfaReset ? 'removed' : 'there was none']],
    }),
  }),
];

function lockCommand(verb: 'lock' | 'unlock', summary: string): CommandDefinition {
  return {
    path: ['user', verb],
    summary,
    arguments: userArgument,
    run: async (context, [userId = '']) => {
      const api = await context.api();
      if (verb === 'lock') {
        const response = await api.users.lockUser({ userId });
        await showMessage(context, response, userTable(only(response.user)));
      } else {
        const response = await api.users.unlockUser({ userId });
        await showMessage(context, response, userTable(only(response.user)));
      }
      return 0;
    },
  };
}
