/** TokenService/RevokeApiToken, and the end of a user's tokens with the user. */

import type { TokenService } from '../../../proto/gen/waf/access/v1/token_pb.ts';
import { meets, type Caller } from '../../auth/permissions.ts';
import { users } from '../../store/collections.ts';
import type { WriteStore } from '../../store/store.ts';
import { apiTokens, type ApiTokenRecord } from '../../store/token-collections.ts';
import { callerOf, type Uses } from '../context.ts';
import type { Method } from '../method.ts';
import { drop } from '../resource/owned.ts';
import { refuseStronger } from '../user-service/user.ts';
import { isOwn, requireManager, storedToken, tokenKind } from './stored-token.ts';

const endsAll = { public: false, anyPermission: ['user:write'], allPermission: [] };

/** Ends a token and what it made. */
export function revokeApiToken(
  parts: Uses<'store'>,
): Method<typeof TokenService, 'revokeApiToken'> {
  return async ({ id }, context) => {
    const caller = callerOf(context);
    requireManager(caller);
    const revokedCount = await parts.store.write((tx) => {
      const token = storedToken(tx, caller, id, () => meets(endsAll, caller.permissions));
      const owner = tx.get(users, token.ownerId);
      if (owner !== undefined && !isOwn(caller, token)) refuseStronger(tx, caller, owner);
      const ended = [token, ...tx.find(apiTokens, 'maker', token.id)];
      for (const one of ended) remove(tx, caller, one);
      return ended.length;
    });
    return { revokedCount };
  };
}

/** Removes the tokens of a user who is removed. */
export function removeTokensOf(tx: WriteStore, caller: Caller, userId: string): void {
  for (const token of tx.find(apiTokens, 'owner', userId)) remove(tx, caller, token);
}

function remove(tx: WriteStore, caller: Caller, token: ApiTokenRecord): void {
  drop(tx, caller, tokenKind, token, 'revoke');
}
