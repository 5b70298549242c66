/** Owns which methods of RoleService are built. */

import type { RoleService } from '../../../proto/gen/waf/v1/role_pb.ts';
import type { ApiParts } from '../context.ts';
import type { Built } from '../method.ts';
import { getRole, listPermissions, listRoles } from './read-roles.ts';
import { createRole, deleteRole, updateRole } from './write-roles.ts';

/** RoleService. */
export function roleService(parts: ApiParts): Built<typeof RoleService> {
  return {
    listRoles: listRoles(parts),
    getRole: getRole(parts),
    listPermissions: listPermissions(),
    createRole: createRole(parts),
    updateRole: updateRole(parts),
    deleteRole: deleteRole(parts),
  };
}
