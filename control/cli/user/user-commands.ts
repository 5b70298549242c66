/** `waf user list`, `get`, `create`, `update`, `delete`: who there is. */

import { againWhenChanged, readAt } from '../change-attempts.ts';
import type { CommandContext, CommandDefinition, FlagValues } from '../command.ts';
import { listFlag, switchFlag, textFlag } from '../command.ts';
import { badFlag } from '../input.ts';
import { changeList, listChangeFlags, listMode, noteChange } from '../list-change.ts';
import { nameArgument } from '../named-resource.ts';
import { callCommand, deleteCommand, listCommand } from '../regular-commands.ts';
import { only, showMessage } from '../show.ts';
import { userTable } from './user-table.ts';

const userArgument = [nameArgument('user')];
const detailFlags = [
  { flags: '--email <address>', summary: 'mail address' },
  { flags: '--display-name <name>', summary: 'name to show' },
  {
    flags: '--provider <name>',
    summary: 'may sign in by it: radius, oidc:ID or saml:ID; repeatable',
    repeatable: true,
  },
];

/** Commands that read and write users. */
export const userCommands: readonly CommandDefinition[] = [
  listCommand({
    path: ['user', 'list'],
    summary: 'List users',
    query: 'part of a name or mail address',
    flags: [
      { flags: '--role <role>', summary: 'only with this role', resource: 'role' },
      { flags: '--locked', summary: 'only locked users' },
    ],
    call: ({ users }, { page, query }, _args, flags) =>
      users.listUsers({
        page,
        query,
        roleId: textFlag(flags, 'role') ?? '',
        ...(switchFlag(flags, 'locked') ? { locked: true } : {}),
      }),
    table: userTable,
  }),
  callCommand({
    path: ['user', 'get'],
    summary: 'Show a user',
    arguments: userArgument,
    call: ({ users }, [id = '']) => users.getUser({ id }),
    table: ({ user }) => userTable(only(user)),
  }),
  {
    path: ['user', 'create'],
    summary: 'Create a user',
    help:
      'The password is asked for without echo; --no-password makes a user for whom only an\n' +
      'identity provider vouches. Example: waf user create anna --role Auditor',
    arguments: [{ name: '<username>', summary: 'name to sign in with' }],
    flags: [
      ...detailFlags,
      {
        flags: '--role <role>',
        summary: 'name or id of a role; repeatable',
        repeatable: true,
        resource: 'role',
      },
      { flags: '--password-stdin', summary: 'read the password from standard input' },
      { flags: '--no-password', summary: 'no password; needs --provider' },
    ],
    run: runCreate,
  },
  {
    path: ['user', 'update'],
    summary: 'Change a user; unspecified options are unchanged',
    arguments: userArgument,
    flags: [
      { flags: '--username <name>', summary: 'name to sign in with' },
      ...detailFlags,
      { flags: '--no-providers', summary: 'no identity provider' },
      ...listChangeFlags,
    ],
    run: runUpdate,
  },
  deleteCommand({
    path: ['user', 'delete'],
    summary: 'Remove a user with its sessions',
    arguments: userArgument,
    kind: 'user',
    call: ({ users }, id) => users.deleteUser({ id }),
  }),
];

async function runCreate(
  context: CommandContext,
  [username = '']: readonly string[],
  flags: FlagValues,
): Promise<number> {
  const { readNewPassword } = await import('../auth-prompt.ts');
  const api = await context.api();
  const password =
    flags['password'] === false
      ? ''
      : await readNewPassword(switchFlag(flags, 'passwordStdin'), 'Password of the user');
  const response = await api.users.createUser({
    user: {
      username,
      email: textFlag(flags, 'email') ?? '',
      displayName: textFlag(flags, 'displayName') ?? '',
      externalProviders: [...listFlag(flags, 'provider')],
      roles: listFlag(flags, 'role').map((id) => ({ id })),
    },
    password,
  });
  return showMessage(context, response, userTable(only(response.user)));
}

async function runUpdate(
  context: CommandContext,
  [id = '']: readonly string[],
  flags: FlagValues,
): Promise<number> {
  const api = await context.api();
  const texts = ['username', 'email', 'displayName'].flatMap((name) => {
    const value = textFlag(flags, name);
    return value === undefined ? [] : [[name, value] as const];
  });
  const mask: string[] = texts.map(([name]) => name);
  const given = listFlag(flags, 'provider');
  const none = flags['providers'] === false;
  if (none && given.length > 0) throw badFlag('--no-providers and --provider exclude each other');
  if (given.length > 0 || none) mask.push('externalProviders');
  if (mask.length === 0) throw badFlag('name at least one flag that changes something');
  const response = await againWhenChanged(async () => {
    const { user: before } = await api.users.getUser({ id });
    const present = before?.externalProviders ?? [];
    const providers = none ? [] : changeList(listMode(flags), present, given, '--provider');
    const answer = await api.users.updateUser({
      user: { id, ...Object.fromEntries(texts), externalProviders: providers },
      updateMask: mask.join(','),
      expectedUpdatedAt: readAt(before?.updatedAt),
    });
    if (mask.includes('externalProviders')) {
      noteChange(context.output, 'taken away', present, providers);
    }
    return answer;
  });
  return showMessage(context, response, userTable(only(response.user)));
}
