/** AuthService/GetUserInfo. */

import type { AuthService } from '../../../proto/gen/waf/v1/auth_pb.ts';
import { users } from '../../store/collections.ts';
import { callerOf, type Uses } from '../context.ts';
import type { Method } from '../method.ts';
import { accessCodes, toCurrentUser } from './current-user.ts';

/** The caller; on the administration socket the local administrator. */
export function getUserInfo(parts: Uses<'store'>): Method<typeof AuthService, 'getUserInfo'> {
  return (_request, context) => {
    const caller = callerOf(context);
    const user = parts.store.get(users, caller.userId);
    if (user !== undefined) {
      const shown = toCurrentUser(parts.store, user);
      return { user: { ...shown, accessCodes: accessCodes(caller.permissions) } };
    }
    return {
      user: {
        id: caller.userId,
        tenantId: caller.tenantId,
        username: caller.username,
        displayName: 'Local administrator',
        roles: ['Administrator'],
        accessCodes: accessCodes(caller.permissions),
      },
    };
  };
}
