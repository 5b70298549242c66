/** Roles: nobody gives away, changes or removes more than the own permissions. */

import { RoleSchema, type Role, type RoleJson } from '../../../proto/gen/waf/v1/role_pb.ts';
import { permissionCodes, superadmin, type Caller } from '../../auth/permissions.ts';
import { invalidField, refusal } from '../../domain/errors.ts';
import { checkName } from '../../domain/names.ts';
import { rolesHandedOut } from '../../domain/settings/identity-settings.ts';
import type { RoleRecord } from '../../domain/records.ts';
import { readRoleSpec, roleSpec } from '../../publish/manifests/manifest-accounts.ts';
import { maskOf } from '../../domain/update-mask.ts';
import { roles, settingsId, systemSettings, users } from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';
import { toMessage } from '../convert.ts';
import type { Resource } from '../resource/resource.ts';

const known = new Set(permissionCodes.map(([code]) => code));

/** Roles. */
export const roleKind: Resource<typeof RoleSchema, RoleJson, RoleRecord> = {
  schema: RoleSchema,
  collection: roles,
  noun: 'role',
  audit: 'role',
  field: 'role',
  prefix: 'role',
  nameOf: ({ name }) => name,
  mask: maskOf(RoleSchema, 'memberCount'),
  show: (store) => (role) => showRole(store, role),
  guard: ({ caller }, role) => {
    if (role.builtin === true) {
      throw refusal('failed_precondition', 'built-in roles are fixed: create one of your own');
    }
    if (holdsAll(caller, role.permissions)) return;
    throw refusal('permission_denied', 'this role holds permissions that you do not hold');
  },
  settle: ({ caller }, { name, description = '', permissions: asked }, _before, base) => {
    const permissions = [...new Set(asked)];
    const stated = { name: checkName(name, 'role.name'), description, permissions };
    checkPermissions(caller, permissions);
    return { record: { ...base, ...stated, builtin: false } };
  },
  taken: 'role.name: another role has it',
  namesakes: (store, { name }) => store.find(roles, 'name', name.toLowerCase()),
  refuseRemoval: (store, { id }) => {
    if (store.list(users).some((user) => user.roleIds.includes(id))) {
      throw refusal('failed_precondition', 'id: users have this role; assign others first');
    }
    if (rolesHandedOut(store.get(systemSettings, settingsId)?.values ?? {}).includes(id)) {
      throw refusal('failed_precondition', 'id: an identity provider hands out this role');
    }
  },
  document: { reference: 'role', permission: 'role:write', read: readRoleSpec, spec: roleSpec },
};

/** A role with the number of its members. */
export function showRole(store: ReadStore, role: RoleRecord): Role {
  const members = store.list(users).filter((user) => user.roleIds.includes(role.id)).length;
  const message = toMessage(RoleSchema, role);
  message.memberCount = BigInt(members);
  return message;
}

function checkPermissions(caller: Caller, permissions: readonly string[]): void {
  permissions.forEach((code, at) => {
    const field = `role.permissions[${at}]`;
    if (!known.has(code) || code === superadmin) {
      throw invalidField(field, 'is no permission code; see RoleService/ListPermissions');
    }
    if (holdsAll(caller, [code])) return;
    throw refusal('permission_denied', `${field}: you do not hold this permission yourself`);
  });
}

/** Whether the caller may hand out all of these. */
export function holdsAll({ permissions }: Caller, codes: readonly string[]): boolean {
  return permissions.has(superadmin) || codes.every((code) => permissions.has(code));
}
