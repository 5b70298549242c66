/** `waf user list`, `get`, `create`, `update`, `delete`: who there is. */

import type { User } from '../../../proto/gen/waf/v1/user_pb.ts';
import { againWhenChanged, readAt } from '../change-attempts.ts';
import type {
  ArgumentDefinition,
  CommandContext,
  CommandDefinition,
  FlagValues,
} from '../command.ts';
import { listFlag, switchFlag, textFlag } from '../command.ts';
import { badFlag } from '../input.ts';
import { changeList, listChangeFlags, listMode, noteChange } from '../list-change.ts';
import { notePage, pageFlags, readPage } from '../paging.ts';
import { showMessage, showRemoved } from '../show.ts';
import { findRoleId, findUserId, userTable } from './user-table.ts';

const userArgument: readonly ArgumentDefinition[] = [
  { name: '<user>', summary: 'id or name', resource: 'user' },
];
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
  {
    path: ['user', 'list'],
    summary: 'List users',
    help: '',
    arguments: [],
    flags: [
      { flags: '--query <text>', summary: 'part of a name or mail address' },
      { flags: '--role <role>', summary: 'only with this role', resource: 'role' },
      { flags: '--locked', summary: 'only locked users' },
      ...pageFlags,
    ],
    run: runList,
  },
  {
    path: ['user', 'get'],
    summary: 'Show a user',
    help: '',
    arguments: userArgument,
    flags: [],
    run: async (context, [named = '']) => {
      const api = await context.api();
      const response = await api.users.getUser({ id: await findUserId(api, named) });
      await showMessage(context, response, tableOf(response));
      return 0;
    },
  },
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
    help: '',
    arguments: userArgument,
    flags: [
      { flags: '--username <name>', summary: 'name to sign in with' },
      ...detailFlags,
      { flags: '--no-providers', summary: 'no identity provider' },
      ...listChangeFlags,
    ],
    run: runUpdate,
  },
  {
    path: ['user', 'delete'],
    summary: 'Remove a user with its sessions',
    help: '',
    arguments: userArgument,
    flags: [],
    run: async (context, [named = '']) => {
      const api = await context.api();
      const id = await findUserId(api, named);
      await api.users.deleteUser({ id });
      showRemoved(context, 'user', id);
      return 0;
    },
  },
];

async function runList(
  context: CommandContext,
  _args: readonly string[],
  flags: FlagValues,
): Promise<number> {
  const api = await context.api();
  const role = textFlag(flags, 'role');
  const response = await api.users.listUsers({
    page: readPage(flags),
    query: textFlag(flags, 'query') ?? '',
    roleId: role === undefined ? '' : await findRoleId(api, role),
    ...(switchFlag(flags, 'locked') ? { locked: true } : {}),
  });
  await showMessage(context, response, userTable(response.items));
  notePage(context.output, response.items.length, response.page?.total);
  return 0;
}

async function runCreate(
  context: CommandContext,
  [username = '']: readonly string[],
  flags: FlagValues,
): Promise<number> {
  const { readNewPassword } = await import('../auth-prompt.ts');
  const api = await context.api();
  const ids: string[] = [];
  for (const role of listFlag(flags, 'role')) ids.push(await findRoleId(api, role));
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
      roles: ids.map((id) => ({ id })),
    },
    password,
  });
  await showMessage(context, response, tableOf(response));
  return 0;
}

async function runUpdate(
  context: CommandContext,
  [named = '']: readonly string[],
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
  const id = await findUserId(api, named);
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
  await showMessage(context, response, tableOf(response));
  return 0;
}

function tableOf({ user }: { readonly user?: User | undefined }) {
  return userTable(user === undefined ? [] : [user]);
}
