/** TokenService/CreateApiToken: no token holds more than its maker and its owner. */

import type { TokenService } from '../../../proto/gen/waf/access/v1/token_pb.ts';
import { grantedBy } from '../../auth/api-tokens.ts';
import { permissionCodes, superadmin, type Caller } from '../../auth/permissions.ts';
import { callerFor } from '../../auth/sessions.ts';
import { makeTokenId, makeTokenText, sha256OfToken } from '../../auth/token-text.ts';
import { invalidField, refusal } from '../../domain/errors.ts';
import type { UserRecord } from '../../domain/records.ts';
import { signInLimits } from '../../limits/sign-in-limits.ts';
import { roles, sites, users } from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';
import { apiTokens, type ApiTokenRecord } from '../../store/token-collections.ts';
import { callerOf, type Uses } from '../context.ts';
import { isoNow } from '../convert.ts';
import type { Method } from '../method.ts';
import { keep, ours } from '../resource/owned.ts';
import { endOf, isLocal, requireManager, showToken, tokenKind } from './stored-token.ts';

type Create = Method<typeof TokenService, 'createApiToken'>;
type Asked = Parameters<Create>[0];

const known: ReadonlySet<string> = new Set(permissionCodes.map(([code]) => code));

/** Makes a token; its text is in this answer only. */
export function createApiToken(parts: Uses<'store' | 'clock'>): Create {
  return async (request, context) => {
    const caller = callerOf(context);
    requireManager(caller);
    if (request.mayManageTokens && caller.token !== undefined) {
      throw refusal('permission_denied', 'mayManageTokens: only people make such tokens');
    }
    const id = makeTokenId();
    const secret = makeTokenText(id);
    const stored = await parts.store.write((tx) => {
      const owner = ownerOf(tx, caller, request.ownerId);
      checkPermissions(tx, caller, owner, request);
      checkSites(tx, caller, request.siteIds);
      checkOthers(tx, owner, request.name);
      const token: ApiTokenRecord = {
        id,
        tenantId: caller.tenantId,
        name: request.name,
        ownerId: owner.id,
        makerId: caller.token?.id ?? '',
        roleId: request.roleId,
        permissions: [...new Set(request.permissions)],
        siteIds: [...new Set(request.siteIds)],
        mayManageTokens: request.mayManageTokens,
        secrets: [{ sha256: sha256OfToken(secret), endsAt: '' }],
        createdAt: isoNow(parts.clock),
        expiresAt: endOf(parts, caller, request.expiresAt, request.noExpiry),
        lastUsedAt: '',
        lastUsedAddress: '',
      };
      return keep(tx, caller, tokenKind, null, token);
    });
    return { token: showToken(parts, stored), secret };
  };
}

/** The caller; on the administration socket, where no user calls, the user that is named. */
function ownerOf(store: ReadStore, caller: Caller, ownerId: string): UserRecord {
  if (isLocal(caller) && ownerId === '') {
    throw invalidField('ownerId', 'is required on the administration socket');
  }
  if (!isLocal(caller) && ownerId !== '' && ownerId !== caller.userId) {
    throw refusal('permission_denied', 'ownerId: a token belongs to who makes it');
  }
  const owner = ours(store.get(users, ownerId === '' ? caller.userId : ownerId), caller);
  if (owner === undefined) throw invalidField('ownerId', 'names no user');
  return owner;
}

function checkPermissions(
  store: ReadStore,
  caller: Caller,
  owner: UserRecord,
  { roleId, permissions }: Asked,
): void {
  const role = ours(store.get(roles, roleId), caller);
  if (role === undefined) throw invalidField('roleId', 'names no role');
  permissions.forEach((code, at) => {
    if (!known.has(code)) throw invalidField(`permissions[${at}]`, 'is no permission');
    if (role.permissions.includes(code) || role.permissions.includes(superadmin)) return;
    throw invalidField(`permissions[${at}]`, 'is no permission of the role');
  });
  const granted = grantedBy(role.permissions, permissions);
  const field = permissions.length === 0 ? 'roleId' : 'permissions';
  const cover = (held: ReadonlySet<string>): boolean =>
    held.has(superadmin) || [...granted].every((code) => held.has(code));
  if (!cover(caller.permissions)) {
    throw refusal('permission_denied', `${field}: holds permissions that you do not hold`);
  }
  if (!cover(callerFor(store, owner, '', '').permissions)) {
    throw refusal('permission_denied', `${field}: holds permissions that the owner does not hold`);
  }
}

function checkSites(store: ReadStore, caller: Caller, siteIds: readonly string[]): void {
  const own = caller.token?.siteIds ?? null;
  if (own !== null && siteIds.length === 0) {
    throw refusal('permission_denied', 'siteIds: name sites of the token that makes it');
  }
  siteIds.forEach((id, at) => {
    if (ours(store.get(sites, id), caller) === undefined || own?.has(id) === false) {
      throw invalidField(`siteIds[${at}]`, 'names no site');
    }
  });
}

function checkOthers(store: ReadStore, owner: UserRecord, name: string): void {
  const others = store.find(apiTokens, 'owner', owner.id);
  if (others.some((other) => other.name === name)) {
    throw refusal('already_exists', 'name: another token of this owner has it');
  }
  const { tokensPerUserMax } = signInLimits;
  if (others.length >= tokensPerUserMax) {
    throw refusal(
      'resource_exhausted',
      `a user has at most ${tokensPerUserMax} API tokens: revoke one first`,
    );
  }
}
