/** `waf role ...`: roles and the permissions that they can hold. */

import type { Role } from '../../../proto/gen/waf/v1/role_pb.ts';
import { againWhenChanged, readAt } from '../change-attempts.ts';
import type { CommandDefinition } from '../command.ts';
import { listFlag, textFlag } from '../command.ts';
import { badFlag } from '../input.ts';
import { changeList, listChangeFlags, listMode, noteChange } from '../list-change.ts';
import { nameArgument } from '../named-resource.ts';
import type { Table } from '../output.ts';
import { callCommand, deleteCommand, listCommand } from '../regular-commands.ts';
import { only, showMessage } from '../show.ts';

const roleArgument = [nameArgument('role')];
const permissionFlag = {
  flags: '--permission <code>',
  summary: 'permission that the role holds; repeatable; see role permissions',
  repeatable: true,
};
const descriptionFlag = { flags: '--description <text>', summary: 'what the role is for' };

/** Commands on roles. */
export const roleCommands: readonly CommandDefinition[] = [
  listCommand({
    path: ['role', 'list'],
    summary: 'List roles',
    query: 'part of a name',
    call: ({ roles }, { page, query }) => roles.listRoles({ page, query }),
    table: roleTable,
  }),
  callCommand({
    path: ['role', 'get'],
    summary: 'Show a role with its permissions',
    arguments: roleArgument,
    call: ({ roles }, [id = '']) => roles.getRole({ id }),
    table: ({ role }) => ({
      columns: ['ROLE', 'PERMISSION'],
      rows: (role?.permissions ?? []).map((code) => [role?.name ?? '', code]),
    }),
  }),
  callCommand({
    path: ['role', 'permissions'],
    summary: 'List every permission that a role can hold',
    call: ({ roles }) => roles.listPermissions({}),
    table: ({ permissions }) => ({
      columns: ['PERMISSION', 'WHAT IT ALLOWS'],
      rows: permissions.map((one) => [one.code, one.description]),
    }),
  }),
  callCommand({
    path: ['role', 'create'],
    summary: 'Create a role',
    help: 'Example: waf role create Reader --permission site:read --permission log:read',
    arguments: [{ name: '<name>', summary: 'name of the role' }],
    flags: [descriptionFlag, permissionFlag],
    call: ({ roles }, [name = ''], flags) => {
      const description = textFlag(flags, 'description') ?? '';
      const permissions = [...listFlag(flags, 'permission')];
      return roles.createRole({ role: { name, description, permissions } });
    },
    table: ({ role }) => roleTable(only(role)),
  }),
  {
    path: ['role', 'update'],
    summary: 'Change a role; unspecified options are unchanged',
    help: 'Permissions are added, unless --replace or --remove is given.',
    arguments: roleArgument,
    flags: [
      { flags: '--name <name>', summary: 'name of the role' },
      descriptionFlag,
      permissionFlag,
      ...listChangeFlags,
    ],
    run: async (context, [id = ''], flags) => {
      const api = await context.api();
      const name = textFlag(flags, 'name');
      const description = textFlag(flags, 'description');
      const given = listFlag(flags, 'permission');
      const mask = [
        ...(name === undefined ? [] : ['name']),
        ...(description === undefined ? [] : ['description']),
        ...(given.length === 0 ? [] : ['permissions']),
      ];
      if (mask.length === 0) throw badFlag('name at least one flag that changes something');
      const response = await againWhenChanged(async () => {
        const { role: before } = await api.roles.getRole({ id });
        const present = before?.permissions ?? [];
        const permissions = changeList(listMode(flags), present, given, '--permission');
        const answer = await api.roles.updateRole({
          role: { id, name: name ?? '', description: description ?? '', permissions },
          updateMask: mask.join(','),
          expectedUpdatedAt: readAt(before?.updatedAt),
        });
        if (given.length > 0) noteChange(context.output, 'taken away', present, permissions);
        return answer;
      });
      return showMessage(context, response, roleTable(only(response.role)));
    },
  },
  deleteCommand({
    path: ['role', 'delete'],
    summary: 'Remove a role that nobody has',
    arguments: roleArgument,
    kind: 'role',
    call: ({ roles }, id) => roles.deleteRole({ id }),
  }),
];

function roleTable(roles: readonly Role[]): Table {
  return {
    columns: ['ID', 'NAME', 'DESCRIPTION', 'MEMBERS', 'PERMISSIONS'],
    rows: roles.map((role) => [
      role.id,
      role.name + (role.builtin ? ' (built in)' : ''),
      role.description,
      String(role.memberCount),
      role.permissions.length > 4 ? String(role.permissions.length) : role.permissions.join(' '),
    ]),
  };
}
