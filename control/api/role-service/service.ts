/** RoleService. */

import type { RoleService } from '../../../proto/gen/waf/v1/role_pb.ts';
import { permissionCodes } from '../../auth/permissions.ts';
import type { Uses } from '../context.ts';
import type { Built } from '../method.ts';
import { serve } from '../resource/serve.ts';
import { roleKind } from './role.ts';

/** RoleService. */
export function roleService(parts: Uses<'store' | 'clock'>): Built<typeof RoleService> {
  const { show, asked, list, get, create, update, remove } = serve(parts, roleKind);
  return {
    listRoles: list,
    getRole: (request, context) => ({ role: get(request, context) }),
    listPermissions: () => ({
      permissions: permissionCodes.map(([code, description]) => ({ code, description })),
    }),
    createRole: async ({ role }, context) => ({ role: show(await create(asked(role), context)) }),
    updateRole: async (request, context) => ({
      role: show(await update(asked(request.role), request, context)),
    }),
    deleteRole: remove,
  };
}
