/** Owns RoleService/ListRoles, GetRole and ListPermissions. */

import type { RoleService } from '../../../proto/gen/waf/v1/role_pb.ts';
import { permissionCodes } from '../../auth/permissions.ts';
import { roles } from '../../store/collections.ts';
import { callerOf, type ApiParts } from '../context.ts';
import { fitsQuery, pageOf } from '../convert.ts';
import type { Method } from '../method.ts';
import { showRole, storedRole } from './stored-role.ts';

/** Roles of the caller's tenant, by name. */
export function listRoles(parts: ApiParts): Method<typeof RoleService, 'listRoles'> {
  return (request, context) => {
    const { tenantId } = callerOf(context);
    const found = parts.store
      .list(roles)
      .filter((role) => role.tenantId === tenantId && fitsQuery(request.query, role.name))
      .sort((left, right) => left.name.localeCompare(right.name, 'en'));
    const { items, page } = pageOf(found, request.page);
    return { items: items.map((role) => showRole(parts.store, role)), page };
  };
}

/** One role. */
export function getRole(parts: ApiParts): Method<typeof RoleService, 'getRole'> {
  return (request, context) => {
    const role = storedRole(parts.store, callerOf(context), request.id, 'id');
    return { role: showRole(parts.store, role) };
  };
}

/** All permission codes with what they allow. */
export function listPermissions(): Method<typeof RoleService, 'listPermissions'> {
  return () => ({
    permissions: permissionCodes.map(([code, description]) => ({ code, description })),
  });
}
