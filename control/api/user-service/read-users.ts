/** Owns UserService/ListUsers and GetUser. */

import type { UserService } from '../../../proto/gen/waf/v1/user_pb.ts';
import { users } from '../../store/collections.ts';
import { callerOf, type ApiParts } from '../context.ts';
import { fitsQuery, pageOf } from '../convert.ts';
import type { Method } from '../method.ts';
import { isKeptOut, showUser, storedUser } from './stored-user.ts';

/** Users of the caller's tenant, by name. */
export function listUsers(parts: ApiParts): Method<typeof UserService, 'listUsers'> {
  return ({ page: asked, query, roleId, locked }, context) => {
    const { tenantId } = callerOf(context);
    const found = parts.store
      .list(users)
      .filter((user) => user.tenantId === tenantId)
      .filter((user) => fitsQuery(query, user.username, user.email, user.displayName))
      .filter((user) => roleId === '' || user.roleIds.includes(roleId))
      .filter((user) => locked === undefined || isKeptOut(parts, user) === locked)
      .sort((left, right) => left.username.localeCompare(right.username, 'en'));
    const { items, page } = pageOf(found, asked);
    return { items: items.map((user) => showUser(parts, user)), page };
  };
}

/** One user. */
export function getUser(parts: ApiParts): Method<typeof UserService, 'getUser'> {
  return (request, context) => {
    const user = storedUser(parts.store, callerOf(context), request.id, 'id');
    return { user: showUser(parts, user) };
  };
}
