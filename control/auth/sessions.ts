/**
 * Owns signing in and out: password check with lock-out, access tokens, refresh tokens that rotate
 * at every use. A refresh token that was used before ends its session.
 */

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../engine/base/clock.ts';
import { refusal } from '../domain/errors.ts';
import type { UserRecord } from '../domain/records.ts';
import {
  credentials,
  roles,
  sessions,
  users,
  type CredentialRecord,
  type SessionRecord,
} from '../store/collections.ts';
import type { ReadStore, Store } from '../store/store.ts';
import type { AccessTokens } from './access-tokens.ts';
import { AttemptLimit } from './attempt-limit.ts';
import { verifyPassword } from './passwords.ts';
import { superadmin, type Caller } from './permissions.ts';

/** Lifetimes, milliseconds. */
export interface SessionTimes {
  readonly accessMs: number;
  readonly refreshMs: number;
}

/** 8 hours and 7 days. */
export const defaultTimes: SessionTimes = { accessMs: 8 * 3_600_000, refreshMs: 7 * 86_400_000 };

const lockAfterFailures = 5;
const lockMs = 15 * 60_000;
const loginsPerMinute = 10;
const sessionsPerUserMax = 50;

/** What a successful sign-in or refresh gives. */
export interface IssuedSession {
  readonly user: UserRecord;
  readonly accessToken: string;
  readonly accessExpiresAtMs: number;
  /** Goes into a cookie, never into a message. */
  readonly refreshToken: string;
  readonly refreshExpiresAtMs: number;
}

export interface Sessions {
  /** Errors: unauthenticated, resource_exhausted. */
  login(username: string, password: string, address: string): Promise<IssuedSession>;
  /** Errors: unauthenticated. */
  refresh(refreshToken: string): Promise<IssuedSession>;
  /** True when a session was ended. */
  logout(refreshToken: string): Promise<boolean>;
  /** Who presents an access token; null when it is not good. */
  callerOf(accessToken: string, address: string): Promise<Caller | null>;
}

/** Opens the sign-in service. */
export function openSessions(
  store: Store,
  tokens: AccessTokens,
  clock: Clock,
  times: SessionTimes = defaultTimes,
): Sessions {
  const limit = new AttemptLimit(clock, loginsPerMinute);
  const issue = async (user: UserRecord, session: SessionRecord, secret: string) => {
    const accessExpiresAtMs = clock.nowMs() + times.accessMs;
    const claims = { userId: user.id, sessionId: session.id };
    return {
      user,
      accessToken: await tokens.issue(claims, accessExpiresAtMs),
      accessExpiresAtMs,
      refreshToken: `${session.id}.${secret}`,
      refreshExpiresAtMs: Date.parse(session.expiresAt),
    };
  };
  return {
    login: async (username, password, address) => {
      const name = username.trim().toLowerCase();
      if (!limit.allow(`user ${name}`) || !limit.allow(`address ${address}`)) {
        throw refusal('resource_exhausted', 'too many sign-ins: wait a minute');
      }
      const user = store.find(users, 'username', name)[0];
      const credential = user === undefined ? undefined : store.get(credentials, user.id);
      const fits = await verifyPassword(credential?.passwordHash, password);
      return issueOrRefuse(store, clock, times, issue, user, fits, address);
    },
    refresh: async (refreshToken) => {
      const { session, secret } = rotated(refreshToken);
      const user = await store.write((tx) => {
        const stored = tx.get(sessions, session);
        if (stored === undefined) return null;
        const owner = tx.get(users, stored.userId);
        if (!sameDigest(stored.tokenSha256, digest(refreshToken)) || !isAlive(tx, stored, clock)) {
          tx.remove(sessions, stored.id);
          if (owner !== undefined) tx.audit(sessionNote(owner, 'session_ended', stored.id));
          return null;
        }
        if (owner === undefined) return null;
        const expiresAt = new Date(clock.nowMs() + times.refreshMs).toISOString();
        const next = { ...stored, tokenSha256: digest(`${stored.id}.${secret}`), expiresAt };
        tx.put(sessions, next);
        return { owner, next };
      });
      if (user === null) throw refusal('unauthenticated', 'the session has ended: sign in again');
      return issue(user.owner, user.next, secret);
    },
    logout: (refreshToken) =>
      store.write((tx) => {
        const stored = tx.get(sessions, rotated(refreshToken).session);
        if (stored === undefined || !sameDigest(stored.tokenSha256, digest(refreshToken))) {
          return false;
        }
        tx.remove(sessions, stored.id);
        const owner = tx.get(users, stored.userId);
        if (owner !== undefined) tx.audit(sessionNote(owner, 'logout', stored.id));
        return true;
      }),
    callerOf: async (accessToken, address) => {
      const claims = await tokens.verify(accessToken);
      if (claims === null) return null;
      const session = store.get(sessions, claims.sessionId);
      const user = store.get(users, claims.userId);
      if (session === undefined || user === undefined || session.userId !== user.id) return null;
      if (!isAlive(store, session, clock)) return null;
      return callerFor(store, user, session.id, address);
    },
  };
}

/** A user as a caller, with the permissions of all roles. */
export function callerFor(
  store: ReadStore,
  user: UserRecord,
  sessionId: string,
  address: string,
): Caller {
  const permissions = user.roleIds.flatMap((id) => store.get(roles, id)?.permissions ?? []);
  return {
    userId: user.id,
    username: user.username,
    tenantId: user.tenantId,
    permissions: new Set(permissions),
    sessionId,
    address,
  };
}

/** The caller of the administration socket. */
export function localAdministrator(tenantId: string): Caller {
  return {
    userId: 'local-administrator',
    username: 'local administrator',
    tenantId,
    permissions: new Set([superadmin]),
    sessionId: '',
    address: '',
  };
}

type Issue = (user: UserRecord, session: SessionRecord, secret: string) => Promise<IssuedSession>;

async function issueOrRefuse(
  store: Store,
  clock: Clock,
  times: SessionTimes,
  issue: Issue,
  user: UserRecord | undefined,
  fits: boolean,
  address: string,
): Promise<IssuedSession> {
  const wrong = refusal('unauthenticated', 'the user name or the password is wrong');
  if (user === undefined) throw wrong;
  const secret = randomBytes(32).toString('base64url');
  const session = await store.write((tx) => {
    const credential = tx.get(credentials, user.id);
    const owner = tx.get(users, user.id);
    const nowMs = clock.nowMs();
    if (credential === undefined || owner === undefined) return null;
    const locked = owner.locked || Date.parse(credential.lockedUntil || '0') > nowMs;
    if (!fits || locked) {
      if (!locked) tx.put(credentials, afterFailure(credential, nowMs));
      tx.audit({ ...sessionNote(owner, 'login_failed', owner.id), metadata: { address } });
      return null;
    }
    tx.put(credentials, { ...credential, failedAttempts: 0, lockedUntil: '' });
    tx.put(users, { ...owner, lastLoginAt: new Date(nowMs).toISOString() });
    const id = randomBytes(16).toString('hex');
    const made: SessionRecord = {
      id,
      userId: owner.id,
      tokenSha256: digest(`${id}.${secret}`),
      sessionEpoch: credential.sessionEpoch,
      createdAt: new Date(nowMs).toISOString(),
      expiresAt: new Date(nowMs + times.refreshMs).toISOString(),
    };
    const old = tx.find(sessions, 'user', owner.id).sort(byCreation);
    for (const one of old.slice(0, Math.max(0, old.length - sessionsPerUserMax + 1))) {
      tx.remove(sessions, one.id);
    }
    tx.put(sessions, made);
    tx.audit({ ...sessionNote(owner, 'login', id), metadata: { address } });
    return { made, owner };
  });
  if (session === null) throw wrong;
  return issue(session.owner, session.made, secret);
}

function byCreation(left: SessionRecord, right: SessionRecord): number {
  return left.createdAt < right.createdAt ? -1 : 1;
}

function afterFailure(credential: CredentialRecord, nowMs: number): CredentialRecord {
  const failedAttempts = credential.failedAttempts + 1;
  if (failedAttempts < lockAfterFailures) return { ...credential, failedAttempts };
  const lockedUntil = new Date(nowMs + lockMs).toISOString();
  return { ...credential, failedAttempts: 0, lockedUntil };
}

function isAlive(store: ReadStore, session: SessionRecord, clock: Clock): boolean {
  const credential = store.get(credentials, session.userId);
  const user = store.get(users, session.userId);
  if (credential === undefined || user === undefined || user.locked) return false;
  if (credential.sessionEpoch !== session.sessionEpoch) return false;
  return Date.parse(session.expiresAt) > clock.nowMs();
}

function rotated(refreshToken: string): { session: string; secret: string } {
  const session = refreshToken.split('.', 1)[0] ?? '';
  return { session, secret: randomBytes(32).toString('base64url') };
}

function digest(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

function sameDigest(left: string, right: string): boolean {
  return left.length === right.length && timingSafeEqual(Buffer.from(left), Buffer.from(right));
}

function sessionNote(user: UserRecord, action: string, resourceId: string) {
  return {
    actorId: user.id,
    actorName: user.username,
    tenantId: user.tenantId,
    action,
    resourceType: 'session',
    resourceId,
  };
}
