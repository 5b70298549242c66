/** Finding a caller's token, showing it without its text, and when a token may end. */

import { create } from '@bufbuild/protobuf';
import { timestampFromDate, timestampMs, type Timestamp } from '@bufbuild/protobuf/wkt';
import { ApiTokenSchema, type ApiToken } from '../../../proto/gen/waf/access/v1/token_pb.ts';
import { isGood, tokenCaller } from '../../auth/api-tokens.ts';
import { superadmin, type Caller } from '../../auth/permissions.ts';
import { invalidField, notFound, refusal } from '../../domain/errors.ts';
import { signInLimits } from '../../limits/sign-in-limits.ts';
import { roles, users } from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';
import { apiTokens, type ApiTokenRecord } from '../../store/token-collections.ts';
import { accessCodes } from '../auth-service/current-user.ts';
import type { Uses } from '../context.ts';
import { requireOurs, type Kept } from '../resource/owned.ts';

/** Errors: permission_denied for a token that may not manage tokens. */
export function requireManager(caller: Caller): void {
  if (caller.token === undefined || caller.token.mayManageTokens) return;
  throw refusal('permission_denied', 'this API token may not manage tokens');
}

/** Whether a caller may see and end a token, as a user of users' tokens or as its own. */
export function isOwn(caller: Caller, token: ApiTokenRecord): boolean {
  if (token.tenantId !== caller.tenantId) return false;
  if (caller.token !== undefined) return token.makerId === caller.token.id;
  return token.ownerId === caller.userId || isLocal(caller);
}

/** The administration socket, which only the installation's own account can open. */
export function isLocal(caller: Caller): boolean {
  return caller.sessionId === '' && caller.permissions.has(superadmin);
}

/**
 * A token that the caller owns, or made by the calling token; those of others as `also` allows.
 * Errors: not_found, the same for tokens that the caller may not see.
 */
export function storedToken(
  store: ReadStore,
  caller: Caller,
  id: string,
  also: (token: ApiTokenRecord) => boolean = () => false,
): ApiTokenRecord {
  const token = requireOurs(store.get(apiTokens, id), caller, 'API token', id);
  if (isOwn(caller, token) || (caller.token === undefined && also(token))) return token;
  throw notFound('API token', id);
}

/** A token as people see it. */
export function showToken(
  { store, clock }: Uses<'store' | 'clock'>,
  token: ApiTokenRecord,
): ApiToken {
  const caller = tokenCaller(store, clock, token, '');
  const old = token.secrets.find((secret) => secret.endsAt !== '' && isGood(secret, clock));
  const { makerId, lastUsedAddress, expiresAt, lastUsedAt } = token;
  const lastUsed = timeOf(lastUsedAt);
  const expires = timeOf(expiresAt);
  const overlap = timeOf(old?.endsAt ?? '');
  return create(ApiTokenSchema, {
    id: token.id,
    name: token.name,
    ownerId: token.ownerId,
    ownerName: store.get(users, token.ownerId)?.username ?? '',
    roleId: token.roleId,
    roleName: store.get(roles, token.roleId)?.name ?? '',
    permissions: [...token.permissions],
    siteIds: [...token.siteIds],
    effectivePermissions: caller === null ? [] : accessCodes(caller.permissions),
    mayManageTokens: token.mayManageTokens,
    makerTokenId: makerId,
    createdAt: timestampFromDate(new Date(token.createdAt)),
    lastUsedAddress,
    usable: caller !== null,
    ...(expires === undefined ? {} : { expiresAt: expires }),
    ...(lastUsed === undefined ? {} : { lastUsedAt: lastUsed }),
    ...(overlap === undefined ? {} : { overlapEndsAt: overlap }),
  });
}

function timeOf(text: string): Timestamp | undefined {
  return text === '' ? undefined : timestampFromDate(new Date(text));
}

/**
 * When a token ends, RFC 3339; '' for never. Errors: invalid_argument without a choice, for a time
 * that has passed or is too far away, and for one after the end of the calling token.
 */
export function endOf(
  { store, clock }: Uses<'store' | 'clock'>,
  caller: Caller,
  expiresAt: Timestamp | undefined,
  noExpiry: boolean,
): string {
  if (noExpiry && expiresAt !== undefined) {
    throw invalidField('noExpiry', 'and expiresAt exclude each other');
  }
  const makerEnd = makerEndMs(store, caller);
  if (expiresAt === undefined) {
    if (!noExpiry) throw invalidField('expiresAt', 'is required, unless noExpiry is set');
    if (makerEnd === null) return '';
    throw invalidField('noExpiry', 'a token of a token that ends must end, too');
  }
  const ms = timestampMs(expiresAt);
  const nowMs = clock.nowMs();
  if (!(ms > nowMs)) throw invalidField('expiresAt', 'has passed');
  if (ms > nowMs + signInLimits.tokenMs) {
    throw invalidField('expiresAt', 'is more than 366 days away: choose an earlier time');
  }
  if (makerEnd !== null && ms > makerEnd) {
    throw invalidField('expiresAt', 'is after the end of the token that makes it');
  }
  return new Date(ms).toISOString();
}

function makerEndMs(store: ReadStore, { token }: Caller): number | null {
  const maker = token === undefined ? undefined : store.get(apiTokens, token.id);
  return maker === undefined || maker.expiresAt === '' ? null : Date.parse(maker.expiresAt);
}

/** Tokens; the audit log keeps nothing of their texts. */
export const tokenKind: Kept<ApiTokenRecord> = {
  collection: apiTokens,
  audit: 'api_token',
  nameOf: ({ name }) => name,
  audited: ({ secrets: _secrets, ...token }) => token,
};
