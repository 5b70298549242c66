/** Owns UserService/CreateUser, UpdateUser, AssignRoles and DeleteUser. */

import { randomUUID } from 'node:crypto';
import type { UserService } from '../../../proto/gen/waf/v1/user_pb.ts';
import { checkPassword, hashPassword } from '../../auth/passwords.ts';
import { superadmin, type Caller } from '../../auth/permissions.ts';
import { invalidField, refusal } from '../../domain/errors.ts';
import type { UserRecord } from '../../domain/records.ts';
import { applyMask } from '../../domain/update-mask.ts';
import { credentials, roles, users } from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';
import { callerOf, type ApiParts } from '../context.ts';
import { isoNow } from '../convert.ts';
import type { Method } from '../method.ts';
import { endSessions, keepAdministrator, showUser, storedUser, userNote } from './stored-user.ts';

const usernamePattern = /^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$/;
const maskFields = { email: true, displayName: true, username: true } as const;
const rolesMax = 64;

/** Creates a user with a password. */
export function createUser(parts: ApiParts): Method<typeof UserService, 'createUser'> {
  return async ({ user: asked, password }, context) => {
    const caller = callerOf(context);
    if (asked === undefined) throw invalidField('user', 'is required');
    checkPassword(password, 'password');
    const passwordHash = await hashPassword(password);
    const now = isoNow(parts.clock);
    const stored = await parts.store.write((tx) => {
      const record: UserRecord = {
        id: `user-${randomUUID()}`,
        tenantId: caller.tenantId,
        username: asked.username.trim(),
        email: asked.email.trim(),
        displayName: asked.displayName.trim(),
        roleIds: asked.roles.map((role) => role.id),
        locked: false,
        createdAt: now,
        updatedAt: now,
      };
      checkUser(tx, record);
      checkRoles(tx, caller, record.roleIds, 'user.roles');
      tx.put(users, record);
      tx.put(credentials, {
        id: record.id,
        passwordHash,
        failedAttempts: 0,
        lockedUntil: '',
        sessionEpoch: 1,
      });
      tx.audit({ ...userNote(caller, record), action: 'create', after: record });
      return record;
    });
    return { user: showUser(parts.store, stored) };
  };
}

/** Changes the masked fields. */
export function updateUser(parts: ApiParts): Method<typeof UserService, 'updateUser'> {
  return async ({ user: change, updateMask }, context) => {
    const caller = callerOf(context);
    if (change === undefined) throw invalidField('user', 'is required');
    const { email, displayName, username } = change;
    const stored = await parts.store.write((tx) => {
      const before = storedUser(tx, caller, change.id, 'user.id');
      const masked = applyMask(before, { email, displayName, username }, updateMask, maskFields);
      const after = { ...masked, updatedAt: isoNow(parts.clock) };
      checkUser(tx, after);
      tx.put(users, after);
      tx.audit({ ...userNote(caller, after), action: 'update', before, after });
      return after;
    });
    return { user: showUser(parts.store, stored) };
  };
}

/** Sets exactly which roles a user has, and ends the user's sessions. */
export function assignRoles(parts: ApiParts): Method<typeof UserService, 'assignRoles'> {
  return async ({ userId, roleIds }, context) => {
    const caller = callerOf(context);
    const stored = await parts.store.write((tx) => {
      const before = storedUser(tx, caller, userId, 'userId');
      checkRoles(tx, caller, roleIds, 'roleIds');
      refuseStronger(tx, caller, before);
      const after = { ...before, roleIds: [...new Set(roleIds)], updatedAt: isoNow(parts.clock) };
      tx.put(users, after);
      keepAdministrator(tx, caller.tenantId);
      endSessions(tx, after.id);
      tx.audit({ ...userNote(caller, after), action: 'assign_roles', before, after });
      return after;
    });
    return { user: showUser(parts.store, stored) };
  };
}

/** Removes a user with credentials and sessions. */
export function deleteUser(parts: ApiParts): Method<typeof UserService, 'deleteUser'> {
  return async ({ id }, context) => {
    const caller = callerOf(context);
    const removed = await parts.store.write((tx) => {
      const before = storedUser(tx, caller, id, 'id');
      if (before.id === caller.userId) {
        throw refusal('failed_precondition', 'id: nobody can remove the own user');
      }
      refuseStronger(tx, caller, before);
      endSessions(tx, before.id);
      tx.remove(users, before.id);
      tx.remove(credentials, before.id);
      keepAdministrator(tx, caller.tenantId);
      tx.audit({ ...userNote(caller, before), action: 'delete', before });
      return before;
    });
    return { result: { id: removed.id, changed: true } };
  };
}

/** Errors: permission_denied when the user holds more than the caller. */
export function refuseStronger(store: ReadStore, caller: Caller, user: UserRecord): void {
  if (caller.permissions.has(superadmin)) return;
  const held = user.roleIds.flatMap((id) => store.get(roles, id)?.permissions ?? []);
  if (held.every((code) => caller.permissions.has(code))) return;
  throw refusal('permission_denied', 'this user holds permissions that you do not hold');
}

function checkUser(store: ReadStore, user: UserRecord): void {
  if (!usernamePattern.test(user.username)) {
    throw invalidField('user.username', 'must have 1 to 64 letters, digits, dots, @, _ or -');
  }
  if (user.email !== '' && !/^[^\s@]{1,64}@[^\s@]{1,190}$/.test(user.email)) {
    throw invalidField('user.email', 'must be a mail address');
  }
  if (user.displayName.length > 128) {
    throw invalidField('user.displayName', 'has at most 128 characters');
  }
  const same = store.find(users, 'username', user.username.toLowerCase());
  if (same.some((other) => other.id !== user.id)) {
    throw refusal('already_exists', 'user.username: another user has it');
  }
}

function checkRoles(
  store: ReadStore,
  caller: Caller,
  roleIds: readonly string[],
  field: string,
): void {
  if (roleIds.length > rolesMax) throw invalidField(field, `has at most ${rolesMax} entries`);
  roleIds.forEach((id, at) => {
    const role = store.get(roles, id);
    if (role === undefined || role.tenantId !== caller.tenantId) {
      throw invalidField(`${field}[${at}]`, 'names no role');
    }
    if (caller.permissions.has(superadmin)) return;
    if (role.permissions.every((code) => caller.permissions.has(code))) return;
    throw refusal('permission_denied', `${field}[${at}]: holds permissions that you do not hold`);
  });
}
