/** UserService/CreateUser, UpdateUser, AssignRoles and DeleteUser. */

import { randomUUID } from 'node:crypto';
import type { UserService } from '../../../proto/gen/waf/v1/user_pb.ts';
import { keepAdministrator } from '../../auth/administrators.ts';
import { dropIdentities } from '../../auth/external-accounts.ts';
import { checkPassword, hashPassword } from '../../auth/passwords.ts';
import { invalidField, refusal } from '../../domain/errors.ts';
import type { UserRecord } from '../../domain/records.ts';
import { applyMask } from '../../domain/update-mask.ts';
import { credentials } from '../../store/collections.ts';
import { callerOf, type Uses } from '../context.ts';
import { isoNow } from '../convert.ts';
import type { Method } from '../method.ts';
import { nextUpdate, requireUnchanged } from '../unchanged.ts';
import { removeTokensOf } from '../token-service/revoke-token.ts';
import { drop, keep, stored } from '../resource/owned.ts';
import { showUser } from './show-user.ts';
import {
  checkRoles,
  checkUser,
  endSessions,
  freshCredential,
  refuseStronger,
  userKind,
} from './user.ts';

const maskFields = {
  email: true,
  displayName: true,
  username: true,
  externalProviders: true,
} as const;

/** Creates a user with a password; without one where an identity provider signs the user in. */
export function createUser(
  parts: Uses<'store' | 'clock'>,
): Method<typeof UserService, 'createUser'> {
  return async ({ user: asked, password }, context) => {
    const caller = callerOf(context);
    if (asked === undefined) throw invalidField('user', 'is required');
    const externalProviders = [...new Set(asked.externalProviders)];
    const external = password === '' && externalProviders.length > 0;
    if (!external) checkPassword(password, 'password', asked.username.trim());
    const passwordHash = external ? '' : await hashPassword(password);
    const now = isoNow(parts.clock);
    const kept = await parts.store.write((tx) => {
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
      tx.put(credentials, freshCredential(record.id, passwordHash));
      return keep(tx, caller, userKind, null, record);
    });
    return { user: showUser(parts, kept) };
  };
}

/** Changes the masked fields. */
export function updateUser(
  parts: Uses<'store' | 'clock'>,
): Method<typeof UserService, 'updateUser'> {
  return async ({ user: change, updateMask, expectedUpdatedAt }, context) => {
    const caller = callerOf(context);
    if (change === undefined) throw invalidField('user', 'is required');
    const { email, displayName, username } = change;
    const externalProviders = [...new Set(change.externalProviders)];
    const given = { email, displayName, username, externalProviders };
    const kept = await parts.store.write((tx) => {
      const before = stored(tx, caller, userKind, change.id, 'user.id');
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
      dropIdentities(tx, after);
      const providers = (user: UserRecord) => [...(user.externalProviders ?? [])].sort().join();
      if (providers(before) !== providers(after)) endSessions(tx, after.id);
      return keep(tx, caller, userKind, before, after);
    });
    return { user: showUser(parts, kept) };
  };
}

/** Sets exactly which roles a user has, and ends the user's sessions. */
export function assignRoles(
  parts: Uses<'store' | 'clock'>,
): Method<typeof UserService, 'assignRoles'> {
  return async ({ userId, roleIds, expectedUpdatedAt }, context) => {
    const caller = callerOf(context);
    const kept = await parts.store.write((tx) => {
      const before = stored(tx, caller, userKind, userId, 'userId');
      requireUnchanged(expectedUpdatedAt, before);
      checkRoles(tx, caller, roleIds, 'roleIds');
      refuseStronger(tx, caller, before);
      const updatedAt = nextUpdate(before, parts.clock);
      const after = { ...before, roleIds: [...new Set(roleIds)], updatedAt };
      return keep(tx, caller, userKind, before, after, { action: 'assign_roles' }, () => {
        keepAdministrator(tx, caller.tenantId);
        endSessions(tx, after.id);
      });
    });
    return { user: showUser(parts, kept) };
  };
}

/** Removes a user with credentials and sessions. */
export function deleteUser(parts: Uses<'store'>): Method<typeof UserService, 'deleteUser'> {
  return async ({ id }, context) => {
    const caller = callerOf(context);
    await parts.store.write((tx) => {
      const before = stored(tx, caller, userKind, id, 'id');
      if (before.id === caller.userId) {
        throw refusal('failed_precondition', 'id: nobody can remove the own user');
      }
      refuseStronger(tx, caller, before);
      endSessions(tx, before.id);
      removeTokensOf(tx, caller, before.id);
      dropIdentities(tx, { ...before, externalProviders: [] });
      tx.remove(credentials, before.id);
      drop(tx, caller, userKind, before);
      keepAdministrator(tx, caller.tenantId);
    });
    return { result: { id, changed: true } };
  };
}
