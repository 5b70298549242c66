/** Owns UserService/CreateUser, UpdateUser, AssignRoles and DeleteUser. */

import { randomUUID } from 'node:crypto';
import type { UserService } from '../../../proto/gen/waf/v1/user_pb.ts';
import { keepAdministrator } from '../../auth/administrators.ts';
import { dropIdentities } from '../../auth/external-accounts.ts';
import { checkPassword, hashPassword } from '../../auth/passwords.ts';
import { superadmin, type Caller } from '../../auth/permissions.ts';
import { invalidField, refusal } from '../../domain/errors.ts';
import type { UserRecord } from '../../domain/records.ts';
import { applyMask } from '../../domain/update-mask.ts';
import { checkUserFields } from '../../domain/user-names.ts';
import { credentials, roles, users } from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';
import { callerOf, type ApiParts } from '../context.ts';
import { isoNow } from '../convert.ts';
import type { Method } from '../method.ts';
import { nextUpdate, requireUnchanged } from '../unchanged.ts';
import { removeTokensOf } from '../token-service/revoke-token.ts';
import { endSessions, refuseStronger, showUser, storedUser, userNote } from './stored-user.ts';

const maskFields = {
  email: true,
  displayName: true,
  username: true,
  externalProviders: true,
} as const;
const providersMax = 16;
const rolesMax = 64;

/** Creates a user with a password; without one where an identity provider signs the user in. */
export function createUser(parts: ApiParts): Method<typeof UserService, 'createUser'> {
  return async ({ user: asked, password }, context) => {
    const caller = callerOf(context);
    if (asked === undefined) throw invalidField('user', 'is required');
    const externalProviders = [...new Set(asked.externalProviders)];
    const external = password === '' && externalProviders.length > 0;
    if (!external) checkPassword(password, 'password', asked.username.trim());
    const passwordHash = external ? '' : await hashPassword(password);
    const now = isoNow(parts.clock);
    const stored = await parts.store.write((tx) => {
      const record: UserRecord = {
        id: `user-${randomUUID()}`,
        tenantId: caller.tenantId,
        username: asked.username.trim(),
        email: asked.email.trim(),
        displayName: asked.displayName.trim(),
        roleIds: [...new Set(asked.roles.map((role) => role.id))],
        locked: false,
        externalProviders,
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
    return { user: showUser(parts, stored) };
  };
}

/** Changes the masked fields. */
export function updateUser(parts: ApiParts): Method<typeof UserService, 'updateUser'> {
  return async ({ user: change, updateMask, expectedUpdatedAt }, context) => {
    const caller = callerOf(context);
    if (change === undefined) throw invalidField('user', 'is required');
    const { email, displayName, username } = change;
    const externalProviders = [...new Set(change.externalProviders)];
    const given = { email, displayName, username, externalProviders };
    const stored = await parts.store.write((tx) => {
      const before = storedUser(tx, caller, change.id, 'user.id');
      requireUnchanged(expectedUpdatedAt, before);
      refuseStronger(tx, caller, before);
      const masked = applyMask(before, given, updateMask, maskFields);
      const after: UserRecord = {
        ...masked,
        username: masked.username.trim(),
        email: masked.email.trim(),
        displayName: masked.displayName.trim(),
        updatedAt: nextUpdate(before, parts.clock),
      };
      checkUser(tx, after);
      tx.put(users, after);
      dropIdentities(tx, after);
      const providers = (user: UserRecord) => [...(user.externalProviders ?? [])].sort().join();
      if (providers(before) !== providers(after)) endSessions(tx, after.id);
      tx.audit({ ...userNote(caller, after), action: 'update', before, after });
      return after;
    });
    return { user: showUser(parts, stored) };
  };
}

/** Sets exactly which roles a user has, and ends the user's sessions. */
export function assignRoles(parts: ApiParts): Method<typeof UserService, 'assignRoles'> {
  return async ({ userId, roleIds, expectedUpdatedAt }, context) => {
    const caller = callerOf(context);
    const stored = await parts.store.write((tx) => {
      const before = storedUser(tx, caller, userId, 'userId');
      requireUnchanged(expectedUpdatedAt, before);
      checkRoles(tx, caller, roleIds, 'roleIds');
      refuseStronger(tx, caller, before);
      const updatedAt = nextUpdate(before, parts.clock);
      const after = { ...before, roleIds: [...new Set(roleIds)], updatedAt };
      tx.put(users, after);
      keepAdministrator(tx, caller.tenantId);
      endSessions(tx, after.id);
      tx.audit({ ...userNote(caller, after), action: 'assign_roles', before, after });
      return after;
    });
    return { user: showUser(parts, stored) };
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
      removeTokensOf(tx, caller, before.id);
      dropIdentities(tx, { ...before, externalProviders: [] });
      tx.remove(users, before.id);
      tx.remove(credentials, before.id);
      keepAdministrator(tx, caller.tenantId);
      tx.audit({ ...userNote(caller, before), action: 'delete', before });
      return before;
    });
    return { result: { id: removed.id, changed: true } };
  };
}

/** Errors: invalid_argument naming the field, already_exists. */
export function checkUser(store: ReadStore, user: UserRecord): void {
  checkUserFields(user);
  if ((user.externalProviders?.length ?? 0) > providersMax) {
    throw invalidField('user.externalProviders', `has at most ${providersMax} entries`);
  }
  const same = store.find(users, 'username', user.username.toLowerCase());
  if (same.some((other) => other.id !== user.id)) {
    throw refusal('already_exists', 'user.username: another user has it');
  }
}

/** Errors: invalid_argument for no role, permission_denied for what the caller lacks. */
export function checkRoles(
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
