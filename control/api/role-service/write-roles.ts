/** Owns RoleService/CreateRole, UpdateRole and DeleteRole. */

import { randomUUID } from 'node:crypto';
import { RoleSchema, type RoleJson, type RoleService } from '../../../proto/gen/waf/v1/role_pb.ts';
import { permissionCodes, superadmin, type Caller } from '../../auth/permissions.ts';
import { invalidField, refusal } from '../../domain/errors.ts';
import { rolesHandedOut } from '../../domain/settings/identity-settings.ts';
import type { RoleRecord } from '../../domain/records.ts';
import { applyMask } from '../../domain/update-mask.ts';
import { roles, settingsId, systemSettings, users } from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';
import { actorNote, callerOf, type ApiParts } from '../context.ts';
import { isoNow, toRecord } from '../convert.ts';
import type { Method } from '../method.ts';
import { nextUpdate, requireUnchanged } from '../unchanged.ts';
import { showRole, storedRole } from './stored-role.ts';

const known = new Set(permissionCodes.map(([code]) => code));
const maskFields = { name: true, description: true, permissions: true } as const;
const nameCharactersMax = 128;

/** Creates a role; nobody can give away more than the own permissions. */
export function createRole(parts: ApiParts): Method<typeof RoleService, 'createRole'> {
  return async (request, context) => {
    const caller = callerOf(context);
    if (request.role === undefined) throw invalidField('role', 'is required');
    const asked = toRecord<RoleJson>(RoleSchema, request.role);
    const now = isoNow(parts.clock);
    const stored = await parts.store.write((tx) => {
      const record: RoleRecord = {
        id: `role-${randomUUID()}`,
        tenantId: caller.tenantId,
        name: (asked.name ?? '').trim(),
        description: asked.description ?? '',
        builtin: false,
        permissions: [...new Set(asked.permissions ?? [])],
        createdAt: now,
        updatedAt: now,
      };
      checkRole(tx, caller, record);
      tx.put(roles, record);
      tx.audit({ ...roleNote(caller, record), action: 'create', after: record });
      return record;
    });
    return { role: showRole(parts.store, stored) };
  };
}

/** Changes the masked fields; built-in roles are fixed. */
export function updateRole(parts: ApiParts): Method<typeof RoleService, 'updateRole'> {
  return async (request, context) => {
    const caller = callerOf(context);
    if (request.role === undefined) throw invalidField('role', 'is required');
    const change = toRecord<RoleJson>(RoleSchema, request.role);
    const stored = await parts.store.write((tx) => {
      const before = storedRole(tx, caller, change.id ?? '', 'role.id');
      requireUnchanged(request.expectedUpdatedAt, before);
      refuseBuiltIn(before);
      refuseStrongerRole(caller, before);
      const masked = applyMask(before, change, request.updateMask, maskFields);
      const after: RoleRecord = {
        ...masked,
        name: (masked.name ?? '').trim(),
        permissions: [...new Set(masked.permissions ?? [])],
        updatedAt: nextUpdate(before, parts.clock),
      };
      checkRole(tx, caller, after);
      tx.put(roles, after);
      tx.audit({ ...roleNote(caller, after), action: 'update', before, after });
      return after;
    });
    return { role: showRole(parts.store, stored) };
  };
}

/** Removes a role that no user has. */
export function deleteRole(parts: ApiParts): Method<typeof RoleService, 'deleteRole'> {
  return async (request, context) => {
    const caller = callerOf(context);
    const removed = await parts.store.write((tx) => {
      const before = storedRole(tx, caller, request.id, 'id');
      refuseBuiltIn(before);
      refuseStrongerRole(caller, before);
      if (tx.list(users).some((user) => user.roleIds.includes(before.id))) {
        throw refusal('failed_precondition', 'id: users have this role; assign others first');
      }
      if (rolesHandedOut(tx.get(systemSettings, settingsId)?.values ?? {}).includes(before.id)) {
        throw refusal('failed_precondition', 'id: an identity provider hands out this role');
      }
      tx.remove(roles, before.id);
      tx.audit({ ...roleNote(caller, before), action: 'delete', before });
      return before;
    });
    return { result: { id: removed.id, changed: true } };
  };
}

/** Errors: invalid_argument, already_exists, permission_denied for what the caller lacks. */
export function checkRole(store: ReadStore, caller: Caller, role: RoleRecord): void {
  if (role.name === '') throw invalidField('role.name', 'is required');
  if (role.name.length > nameCharactersMax) {
    throw invalidField('role.name', `has at most ${nameCharactersMax} characters`);
  }
  const same = store.find(roles, 'name', role.name.toLowerCase());
  if (same.some((other) => other.id !== role.id && other.tenantId === role.tenantId)) {
    throw refusal('already_exists', 'role.name: another role has it');
  }
  role.permissions.forEach((code, at) => {
    const field = `role.permissions[${at}]`;
    if (!known.has(code) || code === superadmin) {
      throw invalidField(field, 'is no permission code; see RoleService/ListPermissions');
    }
    if (!caller.permissions.has(superadmin) && !caller.permissions.has(code)) {
      throw refusal('permission_denied', `${field}: you do not hold this permission yourself`);
    }
  });
}

/** Errors: failed_precondition. */
export function refuseBuiltIn(role: RoleRecord): void {
  if (role.builtin === true) {
    throw refusal('failed_precondition', 'built-in roles are fixed: create one of your own');
  }
}

/** Errors: permission_denied when the role gives more than the caller holds. */
export function refuseStrongerRole({ permissions }: Caller, role: RoleRecord): void {
  if (permissions.has(superadmin)) return;
  if (role.permissions.every((code) => permissions.has(code))) return;
  throw refusal('permission_denied', 'this role holds permissions that you do not hold');
}

/** The audit note of a change of a role. */
export function roleNote(caller: Caller, role: RoleRecord) {
  return {
    ...actorNote(caller),
    resourceType: 'role',
    resourceId: role.id,
    resourceName: role.name,
  };
}
