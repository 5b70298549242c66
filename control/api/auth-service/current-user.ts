/** How a user is shown to the user. */

import { create } from '@bufbuild/protobuf';
import { CurrentUserSchema, type CurrentUser } from '../../../proto/gen/waf/v1/auth_pb.ts';
import type { UserRecord } from '../../domain/records.ts';
import { permissionCodes, superadmin } from '../../auth/permissions.ts';
import { credentials, roles } from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';

/** The user with the names of roles and all permission codes. */
export function toCurrentUser(store: ReadStore, user: UserRecord): CurrentUser {
  const held = user.roleIds.flatMap((id) => store.get(roles, id) ?? []);
  return create(CurrentUserSchema, {
    id: user.id,
    tenantId: user.tenantId,
    username: user.username,
    email: user.email,
    displayName: user.displayName,
    roles: held.map((role) => role.name),
    firstPassword: store.get(credentials, user.id)?.firstPassword === true,
    accessCodes: accessCodes(new Set(held.flatMap((role) => role.permissions))),
  });
}

/** Permission codes in a fixed order; a superadmin holds all of them. */
export function accessCodes(permissions: ReadonlySet<string>): string[] {
  const all = permissions.has(superadmin);
  return permissionCodes.map(([code]) => code).filter((code) => all || permissions.has(code));
}
