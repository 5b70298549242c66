/** `waf role ...`: roles and the permissions that they can hold. */

import type { Role } from '../../../proto/gen/waf/v1/role_pb.ts';
import { againWhenChanged, readAt } from '../change-attempts.ts';
import type { ArgumentDefinition, CommandDefinition } from '../command.ts';
import { listFlag, textFlag } from '../command.ts';
import { badFlag } from '../input.ts';
import { changeList, listChangeFlags, listMode, noteChange } from '../list-change.ts';
import type { Table } from '../output.ts';
import { notePage, pageFlags, readPage } from '../paging.ts';
import { showMessage, showRemoved } from '../show.ts';
import { findRoleId } from './user-table.ts';

const roleArgument: readonly ArgumentDefinition[] = [
  { name: '<role>', summary: 'id or name', resource: 'role' },
];
const permissionFlag = {
  flags: '--permission <code>',
  summary: 'permission that the role holds; repeatable; see role permissions',
  repeatable: true,
};
const descriptionFlag = { flags: '--description <text>', summary: 'what the role is for' };

/** Commands on roles. */
export const roleCommands: readonly CommandDefinition[] = [
  {
    path: ['role', 'list'],
    summary: 'List roles',
    help: '',
    arguments: [],
    flags: [{ flags: '--query <text>', summary: 'part of a name' }, ...pageFlags],
    run: async (context, _args, flags) => {
      const { roles } = await context.api();
      const query = textFlag(flags, 'query') ?? '';
      const response = await roles.listRoles({ page: readPage(flags), query });
      await showMessage(context, response, roleTable(response.items));
      notePage(context.output, response.items.length, response.page?.total);
      return 0;
    },
  },
  {
    path: ['role', 'get'],
    summary: 'Show a role with its permissions',
    help: '',
    arguments: roleArgument,
    flags: [],
    run: async (context, [named = '']) => {
      const api = await context.api();
      const response = await api.roles.getRole({ id: await findRoleId(api, named) });
      const permissions = response.role?.permissions ?? [];
      await showMessage(context, response, {
        columns: ['ROLE', 'PERMISSION'],
        rows: permissions.map((code) => [response.role?.name ?? '', code]),
      });
      return 0;
    },
  },
  {
    path: ['role', 'permissions'],
    summary: 'List every permission that a role can hold',
    help: '',
    arguments: [],
    flags: [],
    run: async (context) => {
      const { roles } = await context.api();
      const response = await roles.listPermissions({});
      await showMessage(context, response, {
        columns: ['PERMISSION', 'WHAT IT ALLOWS'],
        rows: response.permissions.map((one) => [one.code, one.description]),
      });
      return 0;
    },
  },
  {
    path: ['role', 'create'],
    summary: 'Create a role',
    help: 'Example: waf role create Reader --permission site:read --permission log:read',
    arguments: [{ name: '<name>', summary: 'name of the role' }],
    flags: [descriptionFlag, permissionFlag],
    run: async (context, [name = ''], flags) => {
      const { roles } = await context.api();
      const description = textFlag(flags, 'description') ?? '';
      const permissions = [...listFlag(flags, 'permission')];
      const response = await roles.createRole({ role: { name, description, permissions } });
      const shown = response.role === undefined ? [] : [response.role];
      await showMessage(context, response, roleTable(shown));
      return 0;
    },
  },
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
    run: async (context, [named = ''], flags) => {
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
      const id = await findRoleId(api, named);
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
      const shown = response.role === undefined ? [] : [response.role];
      await showMessage(context, response, roleTable(shown));
      return 0;
    },
  },
  {
    path: ['role', 'delete'],
    summary: 'Remove a role that nobody has',
    help: '',
    arguments: roleArgument,
    flags: [],
    run: async (context, [named = '']) => {
      const api = await context.api();
      const id = await findRoleId(api, named);
      await api.roles.deleteRole({ id });
      showRemoved(context, 'role', id);
      return 0;
    },
  },
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
