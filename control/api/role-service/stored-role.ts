/** Owns finding a caller's role and showing it. */

import { RoleSchema, type Role } from '../../../proto/gen/waf/v1/role_pb.ts';
import type { Caller } from '../../auth/permissions.ts';
import { notFound } from '../../domain/errors.ts';
import type { RoleRecord } from '../../domain/records.ts';
import { roles, users } from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';
import { requireText, toMessage } from '../convert.ts';

/** A role of the caller's tenant. Errors: invalid_argument at `field`, not_found. */
export function storedRole(
  store: ReadStore,
  caller: Caller,
  id: string,
  field: string,
): RoleRecord {
  const role = store.get(roles, requireText(id, field));
  if (role === undefined || role.tenantId !== caller.tenantId) throw notFound('role', id);
  return role;
}

/** A role with the number of its members. */
export function showRole(store: ReadStore, role: RoleRecord): Role {
  const members = store.list(users).filter((user) => user.roleIds.includes(role.id)).length;
  const message = toMessage(RoleSchema, role);
  message.memberCount = BigInt(members);
  return message;
}
