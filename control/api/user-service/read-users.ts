/** UserService/ListUsers and GetUser. */

import type { UserService } from '../../../proto/gen/waf/v1/user_pb.ts';
import { callerOf, type Uses } from '../context.ts';
import { fitsQuery, pageOf } from '../convert.ts';
import type { Method } from '../method.ts';
import { ownedBy, stored } from '../resource/owned.ts';
import { isKeptOut, showUser } from './show-user.ts';
import { userKind } from './user.ts';

/** Users of the caller's tenant, by name. */
export function listUsers(parts: Uses<'store' | 'clock'>): Method<typeof UserService, 'listUsers'> {
  return ({ page: asked, query, roleId, locked }, context) => {
    const found = ownedBy(parts.store, callerOf(context), userKind)
      .filter((user) => fitsQuery(query, user.username, user.email, user.displayName))
      .filter((user) => roleId === '' || user.roleIds.includes(roleId))
      .filter((user) => locked === undefined || isKeptOut(parts, user) === locked)
      .sort((left, right) => left.username.localeCompare(right.username, 'en'));
    const { items, page } = pageOf(found, asked);
    return { items: items.map((user) => showUser(parts, user)), page };
  };
}

/** One user. */
export function getUser(parts: Uses<'store' | 'clock'>): Method<typeof UserService, 'getUser'> {
  return (request, context) => {
    const user = stored(parts.store, callerOf(context), userKind, request.id, 'id');
    return { user: showUser(parts, user) };
  };
}
