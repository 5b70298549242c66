/** TokenService/ListApiTokens and GetApiToken: the texts of tokens are in neither. */

import type { TokenService } from '../../../proto/gen/waf/access/v1/token_pb.ts';
import { meets } from '../../auth/permissions.ts';
import { refusal } from '../../domain/errors.ts';
import { apiTokens } from '../../store/token-collections.ts';
import { callerOf, type Uses } from '../context.ts';
import { pageOf } from '../convert.ts';
import type { Method } from '../method.ts';
import { ownedBy } from '../resource/owned.ts';
import { isOwn, requireManager, showToken, storedToken } from './stored-token.ts';

const seesAll = { public: false, anyPermission: ['user:read'], allPermission: [] };

/** Tokens of the caller, or of everybody in the tenant. */
export function listApiTokens(
  parts: Uses<'store' | 'clock'>,
): Method<typeof TokenService, 'listApiTokens'> {
  return ({ page: asked, allOwners }, context) => {
    const caller = callerOf(context);
    requireManager(caller);
    const all = allOwners && caller.token === undefined;
    if (allOwners && !(all && meets(seesAll, caller.permissions))) {
      throw refusal('permission_denied', 'allOwners: needs user:read, and no API token');
    }
    const found = ownedBy(parts.store, caller, { collection: apiTokens })
      .filter((token) => all || isOwn(caller, token))
      .map((token) => showToken(parts, token))
      .sort((left, right) => {
        const byOwner = left.ownerName.localeCompare(right.ownerName, 'en');
        return byOwner === 0 ? left.name.localeCompare(right.name, 'en') : byOwner;
      });
    const { items, page } = pageOf(found, asked);
    return { items: [...items], page };
  };
}

/** One token; a token sees itself. */
export function getApiToken(
  parts: Uses<'store' | 'clock'>,
): Method<typeof TokenService, 'getApiToken'> {
  return ({ id }, context) => {
    const caller = callerOf(context);
    if (caller.token?.id !== id) requireManager(caller);
    const token =
      caller.token?.id === id
        ? parts.store.get(apiTokens, id)
        : storedToken(parts.store, caller, id, () => meets(seesAll, caller.permissions));
    // A token that called was there a moment ago.
    if (token === undefined) throw refusal('unauthenticated', 'the API token has ended');
    return { token: showToken(parts, token) };
  };
}
