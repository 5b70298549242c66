/** UserService. */

import type { UserService } from '../../../proto/gen/waf/v1/user_pb.ts';
import type { Uses } from '../context.ts';
import type { Built } from '../method.ts';
import { lockUser, resetPassword, resetUserMfa, unlockUser } from './account-control.ts';
import { getUser, listUsers } from './read-users.ts';
import { assignRoles, createUser, deleteUser, updateUser } from './write-users.ts';

/** UserService. */
export function userService(parts: Uses<'store' | 'clock'>): Built<typeof UserService> {
  return {
    listUsers: listUsers(parts),
    getUser: getUser(parts),
    createUser: createUser(parts),
    updateUser: updateUser(parts),
    assignRoles: assignRoles(parts),
    resetPassword: resetPassword(parts),
    lockUser: lockUser(parts),
    unlockUser: unlockUser(parts),
    resetUserMFA: resetUserMfa(parts),
    deleteUser: deleteUser(parts),
  };
}
