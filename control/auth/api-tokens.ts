/**
 * Who presents an API token. A token holds what its role allows and its owner holds at the moment
 * of the call, so that a demoted, locked or removed owner's tokens weaken or end at once. Wrong
 * tokens are counted by address. Never says why a token is refused, and never keeps its text.
 */

import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import { refusal } from '../domain/errors.ts';
import { signInLimits } from '../limits/sign-in-limits.ts';
import { roles, users } from '../store/collections.ts';
import type { ReadStore, Store } from '../store/store.ts';
import { apiTokens, type ApiTokenRecord, type TokenSecret } from '../store/token-collections.ts';
import { AttemptLimit } from './attempt-limit.ts';
import { originKey } from './origin-key.ts';
import { commonPermissions, superadmin, type Caller } from './permissions.ts';
import { callerFor, type Sessions } from './sessions.ts';
import { idOfToken, sameDigest, sha256OfToken, tokenPrefix } from './token-text.ts';

const sessionMark = 'token ';

/** Finds callers by API token. */
export interface ApiTokens {
  /** Null for a token that is not good. Errors: resource_exhausted after too many wrong ones. */
  callerOf(text: string, address: string): Promise<Caller | null>;
  /** The caller of a token as it is now; null when the token has ended. */
  current(id: string, address: string): Caller | null;
}

interface Parts {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Addresses with too many wrong tokens, until when. */
  readonly wrong: WrongTokens;
}

/** Opens the service. */
export function openApiTokens(store: Store, clock: Clock, logger: Logger): ApiTokens {
  const parts: Parts = { store, clock, logger, wrong: new WrongTokens(clock) };
  return {
    callerOf: (text, address) => callerOf(parts, text, address),
    current: (id, address) => {
      const record = store.get(apiTokens, id);
      return record === undefined ? null : tokenCaller(store, clock, record, address);
    },
  };
}

/** Sessions that also know the callers of API tokens. */
export function withApiTokens(sessions: Sessions, tokens: ApiTokens): Sessions {
  return {
    ...sessions,
    callerOf: (text, address) =>
      text.startsWith(tokenPrefix)
        ? tokens.callerOf(text, address)
        : sessions.callerOf(text, address),
    current: (caller) =>
      caller.token === undefined
        ? sessions.current(caller)
        : tokens.current(caller.token.id, caller.address),
  };
}

async function callerOf(parts: Parts, text: string, address: string): Promise<Caller | null> {
  const { store, clock, logger, wrong } = parts;
  const origin = originKey(address);
  const record = store.get(apiTokens, idOfToken(text) ?? '');
  // An address that a token is used from keeps working beside somebody who guesses there.
  if (wrong.isOver(origin) && record?.lastUsedAddress !== origin) {
    throw refusal('resource_exhausted', 'too many wrong API tokens: wait a minute');
  }
  const digest = sha256OfToken(text);
  const kept = record === undefined ? nobody : record;
  const fits = kept.secrets.some(
    (secret) => sameDigest(secret.sha256, digest) && isGood(secret, clock),
  );
  const caller = fits && record !== undefined ? tokenCaller(store, clock, record, address) : null;
  if (caller === null || record === undefined) {
    if (wrong.note(origin)) logger.warn('too many wrong API tokens', { address: origin });
    return null;
  }
  await noteUse(parts, record, origin);
  return caller;
}

/** Compared with where no token has the id, so that this takes as long. */
const nobody = { secrets: [{ sha256: '-'.repeat(64), endsAt: '' }] };

/** Whether a text of a token has not been replaced for good. */
export function isGood({ endsAt }: TokenSecret, clock: Clock): boolean {
  return endsAt === '' || Date.parse(endsAt) > clock.nowMs();
}

/** The caller of a token; null when the token, its owner, role or maker has ended. */
export function tokenCaller(
  store: ReadStore,
  clock: Clock,
  record: ApiTokenRecord,
  address: string,
): Caller | null {
  const owner = store.get(users, record.ownerId);
  const role = store.get(roles, record.roleId);
  if (owner === undefined || owner.locked || role === undefined) return null;
  if (owner.tenantId !== record.tenantId || role.tenantId !== record.tenantId) return null;
  if (record.expiresAt !== '' && Date.parse(record.expiresAt) <= clock.nowMs()) return null;
  const caller = callerFor(store, owner, `${sessionMark}${record.id}`, address);
  const ofRole = grantedBy(role.permissions, record.permissions);
  const own = {
    permissions: commonPermissions(ofRole, caller.permissions),
    siteIds: record.siteIds.length === 0 ? null : new Set(record.siteIds),
  };
  const { id, name, mayManageTokens } = record;
  if (record.makerId === '') {
    const { permissions, siteIds } = own;
    return { ...caller, permissions, token: { id, name, mayManageTokens, siteIds } };
  }
  // A token that a token made cannot make others: this ends at the second.
  const maker = store.get(apiTokens, record.makerId);
  if (maker === undefined || maker.makerId !== '') return null;
  const above = tokenCaller(store, clock, maker, address);
  if (above?.token === undefined) return null;
  return {
    ...caller,
    permissions: commonPermissions(own.permissions, above.permissions),
    token: { id, name, mayManageTokens: false, siteIds: common(own.siteIds, above.token.siteIds) },
  };
}

/** What a role gives a token that names `only` some of its permissions. */
export function grantedBy(role: readonly string[], only: readonly string[]): ReadonlySet<string> {
  if (only.length === 0) return new Set(role);
  return role.includes(superadmin)
    ? new Set(only)
    : new Set(only.filter((code) => role.includes(code)));
}

function common(
  left: ReadonlySet<string> | null,
  right: ReadonlySet<string> | null,
): ReadonlySet<string> | null {
  if (left === null || right === null) return left ?? right;
  return new Set([...left].filter((id) => right.has(id)));
}

/** Writes when and from where a token is used, at most once in a while. */
async function noteUse(parts: Parts, { id }: ApiTokenRecord, origin: string): Promise<void> {
  const { store, clock, logger } = parts;
  const nowMs = clock.nowMs();
  const isNoted = (record: ApiTokenRecord): boolean =>
    record.lastUsedAt !== '' &&
    nowMs - Date.parse(record.lastUsedAt) < signInLimits.tokenUseNotedEveryMs;
  const before = store.get(apiTokens, id);
  if (before === undefined || isNoted(before)) return;
  try {
    await store.write((tx) => {
      const record = tx.get(apiTokens, id);
      if (record === undefined || isNoted(record)) return;
      const lastUsedAt = new Date(nowMs).toISOString();
      tx.put(apiTokens, { ...record, lastUsedAt, lastUsedAddress: origin });
    });
  } catch (error) {
    // Reading must work on a full disk, too.
    logger.warn('the last use of an API token could not be stored', {
      tokenId: id,
      error: error instanceof Error ? error.message : String(error),
    });
  }
}

/** Counts wrong tokens by address over a minute. */
class WrongTokens {
  readonly #limit: AttemptLimit;
  readonly #over = new Map<string, number>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#limit = new AttemptLimit(clock, signInLimits.wrongTokensPerAddressMax);
  }

  /** Whether an address sent too many. */
  isOver(origin: string): boolean {
    const until = this.#over.get(origin);
    if (until === undefined) return false;
    if (until > this.#clock.nowMs()) return true;
    this.#over.delete(origin);
    return false;
  }

  /** Counts one; true when it is the first that is too many. */
  note(origin: string): boolean {
    if (this.#limit.allow(origin)) return false;
    const first = !this.#over.has(origin);
    this.#over.delete(origin);
    this.#over.set(origin, this.#clock.nowMs() + 60_000);
    if (this.#over.size > signInLimits.attemptKeysMax) {
      this.#over.delete(this.#over.keys().next().value ?? '');
    }
    return first;
  }
}
