/**
 * Sessions: access tokens, and refresh tokens that rotate at every use. A refresh token that was
 * used before ends its session; a text that was never one does nothing, for the name of a session
 * is no secret. Never checks a password.
 */

import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { signInLimits } from '../limits/sign-in-limits.ts';
import type { Clock } from '../../base/clock.ts';
import { refusal } from '../domain/errors.ts';
import type { UserRecord } from '../domain/records.ts';
import { credentials, roles, sessions, users, type SessionRecord } from '../store/collections.ts';
import type { ReadStore, Store, WriteStore } from '../store/store.ts';
import type { AccessTokens } from './access-tokens.ts';
import { signedInFrom, type Proof } from './lock-out.ts';
import { superadmin, type Caller } from './permissions.ts';

/** Lifetimes, milliseconds. */
export interface SessionTimes {
  readonly accessMs: number;
  readonly refreshMs: number;
}

/** What a successful sign-in or refresh gives. */
export interface IssuedSession {
  readonly user: UserRecord;
  readonly accessToken: string;
  readonly accessExpiresAtMs: number;
  /** Goes into a cookie, never into a message. */
  readonly refreshToken: string;
  readonly refreshExpiresAtMs: number;
  /** False when the cookie shall end with the browser. */
  readonly remember: boolean;
}

/** How a session comes to be. */
export interface Beginning {
  readonly address: string;
  /** `password`, `radius`, or the identity provider. */
  readonly method: string;
  readonly remember: boolean;
}

/** Sessions of signed-in users. */
export interface Sessions {
  /** A session for a user who has proved who it is. Errors: unauthenticated. */
  begin(proof: Proof, how: Beginning): Promise<IssuedSession>;
  /** Errors: unauthenticated. */
  refresh(refreshToken: string): Promise<IssuedSession>;
  /** True when a session was ended. */
  logout(refreshToken: string): Promise<boolean>;
  /** Ends a session whose caller has proved who it is; true when there was one. */
  end(sessionId: string): Promise<boolean>;
  /** Who presents an access token; null when it is not good. */
  callerOf(accessToken: string, address: string): Promise<Caller | null>;
  /** The caller of a session as it is now; null when the session has ended. */
  current(caller: Caller): Caller | null;
}

/** Opens the session service. */
export function openSessions(
  store: Store,
  tokens: AccessTokens,
  clock: Clock,
  times: () => SessionTimes,
): Sessions {
  const issuer: Issuer = { store, tokens, clock, times };
  return {
    begin: (proof, how) => beginSession(issuer, proof, how),
    refresh: (refreshToken) => refreshSession(issuer, refreshToken),
    logout: (refreshToken) =>
      endSession(store, sessionIdOf(refreshToken), (session) =>
        sameDigest(session.tokenSha256, digest(refreshToken)),
      ),
    end: (sessionId) => endSession(store, sessionId, () => true),
    callerOf: async (accessToken, address) => {
      const claims = await tokens.verify(accessToken);
      return claims === null ? null : callerNow(issuer, claims, address);
    },
    current: (caller) => callerNow(issuer, caller, caller.address),
  };
}

function callerNow(
  { store, clock }: Issuer,
  { sessionId, userId }: { readonly sessionId: string; readonly userId: string },
  address: string,
): Caller | null {
  const session = store.get(sessions, sessionId);
  const user = store.get(users, userId);
  if (session === undefined || user === undefined || session.userId !== user.id) return null;
  if (!isAlive(store, session, clock)) return null;
  return callerFor(store, user, session.id, address);
}

interface Issuer {
  readonly store: Store;
  readonly tokens: AccessTokens;
  readonly clock: Clock;
  readonly times: () => SessionTimes;
}

async function issue(
  { tokens, clock, times }: Issuer,
  user: UserRecord,
  session: SessionRecord,
  refreshToken: string,
): Promise<IssuedSession> {
  const accessExpiresAtMs = clock.nowMs() + times().accessMs;
  const claims = { userId: user.id, sessionId: session.id };
  return {
    user,
    accessToken: await tokens.issue(claims, accessExpiresAtMs),
    accessExpiresAtMs,
    refreshToken,
    refreshExpiresAtMs: Date.parse(session.expiresAt),
    remember: session.remember !== false,
  };
}

async function beginSession(
  issuer: Issuer,
  { userId, sessionEpoch }: Proof,
  { address, method, remember }: Beginning,
): Promise<IssuedSession> {
  const { store, clock, times } = issuer;
  const id = randomBytes(16).toString('hex');
  const familyKey = randomText();
  const refreshToken = makeToken(id, familyKey);
  const nowMs = clock.nowMs();
  const made = await store.write((tx) => {
    const user = tx.get(users, userId);
    const credential = tx.get(credentials, userId);
    if (user === undefined || credential === undefined || user.locked) return null;
    // Password, lock or roles changed between the proof and now.
    if (credential.sessionEpoch !== sessionEpoch) return null;
    tx.put(credentials, signedInFrom(credential, address));
    const owner = { ...user, lastLoginAt: new Date(nowMs).toISOString() };
    tx.put(users, owner);
    const session: SessionRecord = {
      id,
      userId,
      tokenSha256: digest(refreshToken),
      familyKey,
      sessionEpoch: credential.sessionEpoch,
      createdAt: new Date(nowMs).toISOString(),
      expiresAt: new Date(nowMs + times().refreshMs).toISOString(),
      remember,
      address,
      method,
    };
    dropOldest(tx, userId);
    tx.put(sessions, session);
    tx.audit({ ...sessionNote(owner, 'login', id), metadata: { address, method } });
    return { session, owner };
  });
  if (made === null) throw refusal('unauthenticated', 'the user cannot sign in');
  return issue(issuer, made.owner, made.session, refreshToken);
}

async function refreshSession(issuer: Issuer, refreshToken: string): Promise<IssuedSession> {
  const { store, clock, times } = issuer;
  const found = await store.write((tx) => {
    const stored = tx.get(sessions, sessionIdOf(refreshToken));
    if (stored === undefined || !isOfFamily(stored, refreshToken)) return null;
    const owner = tx.get(users, stored.userId);
    if (!sameDigest(stored.tokenSha256, digest(refreshToken)) || !isAlive(tx, stored, clock)) {
      tx.remove(sessions, stored.id);
      if (owner !== undefined) tx.audit(sessionNote(owner, 'session_ended', stored.id));
      return null;
    }
    if (owner === undefined) return null;
    const expiresAt = new Date(clock.nowMs() + times().refreshMs).toISOString();
    const { familyKey = randomText() } = stored;
    const next = makeToken(stored.id, familyKey);
    const refreshedAt = new Date(clock.nowMs()).toISOString();
    const session = { ...stored, familyKey, tokenSha256: digest(next), expiresAt, refreshedAt };
    tx.put(sessions, session);
    return { owner, session, next };
  });
  if (found === null) throw refusal('unauthenticated', 'the session has ended: sign in again');
  return issue(issuer, found.owner, found.session, found.next);
}

function endSession(
  store: Store,
  sessionId: string,
  mayEnd: (session: SessionRecord) => boolean,
): Promise<boolean> {
  return store.write((tx) => {
    const stored = tx.get(sessions, sessionId);
    if (stored === undefined || !mayEnd(stored)) return false;
    tx.remove(sessions, stored.id);
    const owner = tx.get(users, stored.userId);
    if (owner !== undefined) tx.audit(sessionNote(owner, 'logout', stored.id));
    return true;
  });
}

/** Keeps the number of sessions of a user bounded: the oldest end. */
function dropOldest(tx: WriteStore, userId: string): void {
  const old = tx
    .find(sessions, 'user', userId)
    .sort((left, right) => (left.createdAt < right.createdAt ? -1 : 1));
  for (const one of old.slice(0, Math.max(0, old.length - signInLimits.sessionsPerUserMax + 1))) {
    tx.remove(sessions, one.id);
  }
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

function isAlive(store: ReadStore, session: SessionRecord, clock: Clock): boolean {
  const credential = store.get(credentials, session.userId);
  const user = store.get(users, session.userId);
  if (credential === undefined || user === undefined || user.locked) return false;
  if (credential.sessionEpoch !== session.sessionEpoch) return false;
  return Date.parse(session.expiresAt) > clock.nowMs();
}

function sessionIdOf(refreshToken: string): string {
  return refreshToken.split('.', 1)[0] ?? '';
}

function randomText(): string {
  return randomBytes(32).toString('base64url');
}

/** `<session>.<secret>.<mark>`: the mark tells a token that was used before from a guess. */
function makeToken(sessionId: string, familyKey: string): string {
  const secret = `${sessionId}.${randomText()}`;
  return `${secret}.${markOf(secret, familyKey)}`;
}

function markOf(secret: string, familyKey: string): string {
  return createHmac('sha256', familyKey).update(secret).digest('base64url');
}

/** Whether a text was ever a refresh token of the session. */
function isOfFamily({ familyKey }: SessionRecord, refreshToken: string): boolean {
  // Sessions of before have no marks: there every wrong text counts as a replay.
  if (familyKey === undefined) return true;
  const end = refreshToken.lastIndexOf('.');
  return sameDigest(markOf(refreshToken.slice(0, end), familyKey), refreshToken.slice(end + 1));
}

function digest(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

function sameDigest(left: string, right: string): boolean {
  return left.length === right.length && timingSafeEqual(Buffer.from(left), Buffer.from(right));
}

/** The audit note of a sign-in or sign-out. */
export function sessionNote(user: UserRecord, action: string, resourceId: string) {
  return {
    actorId: user.id,
    actorName: user.username,
    tenantId: user.tenantId,
    action,
    resourceType: 'session',
    resourceId,
  };
}
