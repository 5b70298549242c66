/** Owns finding a caller's user, showing it, and what a change of it may not do. */

import { create } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { UserSchema, type User } from '../../../proto/gen/waf/v1/user_pb.ts';
import { isLockedOut } from '../../auth/lock-out.ts';
import { superadmin, type Caller } from '../../auth/permissions.ts';
import { notFound, refusal } from '../../domain/errors.ts';
import type { UserRecord } from '../../domain/records.ts';
import { credentials, roles, sessions, users } from '../../store/collections.ts';
import type { ReadStore, WriteStore } from '../../store/store.ts';
import { actorNote, type ApiParts } from '../context.ts';
import { requireText } from '../convert.ts';
import { showRole } from '../role-service/role.ts';

/** A user of the caller's tenant. Errors: invalid_argument at `field`, not_found. */
export function storedUser(
  store: ReadStore,
  caller: Caller,
  id: string,
  field: string,
): UserRecord {
  const user = store.get(users, requireText(id, field));
  if (user === undefined || user.tenantId !== caller.tenantId) throw notFound('user', id);
  return user;
}

/** Whether a user is kept out now: locked by an administrator, or by too many wrong proofs. */
export function isKeptOut({ store, clock }: ApiParts, user: UserRecord): boolean {
  const credential = store.get(credentials, user.id);
  return user.locked || (credential !== undefined && isLockedOut(credential, clock.nowMs()));
}

/** A user as others see it. */
export function showUser(parts: ApiParts, user: UserRecord): User {
  const { store } = parts;
  const time = (text: string | undefined) =>
    text === undefined || text === '' ? undefined : timestampFromDate(new Date(text));
  const lastLoginAt = time(user.lastLoginAt);
  const createdAt = time(user.createdAt);
  const updatedAt = time(user.updatedAt);
  return create(UserSchema, {
    id: user.id,
    tenantId: user.tenantId,
    username: user.username,
    email: user.email,
    displayName: user.displayName,
    locked: isKeptOut(parts, user),
    externalProviders: [...(user.externalProviders ?? [])],
    roles: user.roleIds.flatMap((id) => {
      const role = store.get(roles, id);
      return role === undefined ? [] : [showRole(store, role)];
    }),
    totpEnabled: (store.get(credentials, user.id)?.totp?.confirmedAt ?? '') !== '',
    ...(lastLoginAt === undefined ? {} : { lastLoginAt }),
    ...(createdAt === undefined ? {} : { createdAt }),
    ...(updatedAt === undefined ? {} : { updatedAt }),
  });
}

/** Errors: permission_denied when the user holds more than the caller. */
export function refuseStronger(store: ReadStore, caller: Caller, user: UserRecord): void {
  if (caller.permissions.has(superadmin)) return;
  const held = user.roleIds.flatMap((id) => store.get(roles, id)?.permissions ?? []);
  if (held.every((code) => caller.permissions.has(code))) return;
  throw refusal('permission_denied', 'this user holds permissions that you do not hold');
}

/** Ends every session of a user. */
export function endSessions(tx: WriteStore, userId: string): void {
  const credential = tx.get(credentials, userId);
  if (credential !== undefined) {
    tx.put(credentials, { ...credential, sessionEpoch: credential.sessionEpoch + 1 });
  }
  for (const session of tx.find(sessions, 'user', userId)) tx.remove(sessions, session.id);
}

/** The audit note of a change of a user. */
export function userNote(caller: Caller, user: UserRecord) {
  return {
    ...actorNote(caller),
    resourceType: 'user',
    resourceId: user.id,
    resourceName: user.username,
  };
}
