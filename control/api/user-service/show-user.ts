/** Users as others see them. */

import { create } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { UserSchema, type User } from '../../../proto/gen/waf/v1/user_pb.ts';
import { isLockedOut } from '../../auth/lock-out.ts';
import type { UserRecord } from '../../domain/records.ts';
import { credentials, roles } from '../../store/collections.ts';
import type { Uses } from '../context.ts';
import { showRole } from '../role-service/role.ts';

/** Whether a user is kept out now: locked by an administrator, or by too many wrong proofs. */
export function isKeptOut({ store, clock }: Uses<'store' | 'clock'>, user: UserRecord): boolean {
  const credential = store.get(credentials, user.id);
  return user.locked || (credential !== undefined && isLockedOut(credential, clock.nowMs()));
}

/** A user as others see it. */
export function showUser(parts: Uses<'store' | 'clock'>, user: UserRecord): User {
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
