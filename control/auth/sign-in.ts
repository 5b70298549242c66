/**
 * Owns proving who someone is: password with lock-out, then a second factor where there is one.
 * Unknown users, wrong passwords and locked users look and take the same.
 */

import { randomBytes } from 'node:crypto';
import { controlLimits } from '../../engine/base/limits.ts';
import type { Clock } from '../../engine/base/clock.ts';
import { refusal } from '../domain/errors.ts';
import { credentials, users, type CredentialRecord } from '../store/collections.ts';
import type { Store } from '../store/store.ts';
import { AttemptLimit } from './attempt-limit.ts';
import { verifyPassword } from './passwords.ts';
import { sessionNote } from './sessions.ts';
import { useSecondFactor } from './totp.ts';

const lockAfterFailures = 5;
const lockMs = 15 * 60_000;
const loginsPerMinute = 10;
const challengeMs = 5 * 60_000;
const challengeAttempts = 5;

/** Who signed in, or the challenge that must be answered first. */
export type SignInResult =
  | { readonly kind: 'user'; readonly userId: string }
  | { readonly kind: 'challenge'; readonly challenge: string; readonly expiresAtMs: number };

/** Proves who someone is. */
export interface SignIn {
  /** Errors: unauthenticated, resource_exhausted. */
  password(username: string, password: string, address: string): Promise<SignInResult>;
  /** Answers a challenge; resolves to the user. Errors: unauthenticated. */
  answer(challenge: string, code: string, address: string): Promise<string>;
  /** Whether the password is the user's; failures count towards the lock-out. */
  confirm(userId: string, password: string): Promise<boolean>;
}

interface Challenge {
  readonly userId: string;
  readonly expiresAtMs: number;
  attemptsLeft: number;
}

/** Opens the service. Challenges live in memory: a restart asks for the password again. */
export function openSignIn(store: Store, clock: Clock): SignIn {
  const limit = new AttemptLimit(clock, loginsPerMinute);
  const challenges = new Map<string, Challenge>();
  return {
    password: async (username, password, address) => {
      const name = username.trim().toLowerCase();
      // The administration socket has no address; its users are trusted with the machine anyway.
      const fromHere = address === '' || limit.allow(`address ${address}`);
      if (!limit.allow(`user ${name}`) || !fromHere) {
        throw refusal('resource_exhausted', 'too many sign-ins: wait a minute');
      }
      const user = store.find(users, 'username', name)[0];
      const fits = await checkPassword(store, clock, user?.id, password, address);
      if (user === undefined || !fits) {
        throw refusal('unauthenticated', 'the user name or the password is wrong');
      }
      const totp = store.get(credentials, user.id)?.totp;
      if (totp === undefined || totp.confirmedAt === '') return { kind: 'user', userId: user.id };
      const challenge = randomBytes(24).toString('base64url');
      const expiresAtMs = clock.nowMs() + challengeMs;
      challenges.set(challenge, { userId: user.id, expiresAtMs, attemptsLeft: challengeAttempts });
      if (challenges.size > controlLimits.challengesMax) {
        challenges.delete(challenges.keys().next().value ?? '');
      }
      return { kind: 'challenge', challenge, expiresAtMs };
    },
    answer: (challenge, code, address) =>
      answerChallenge(store, clock, challenges, challenge, code, address),
    confirm: (userId, password) => checkPassword(store, clock, userId, password, ''),
  };
}

async function answerChallenge(
  store: Store,
  clock: Clock,
  challenges: Map<string, Challenge>,
  challenge: string,
  code: string,
  address: string,
): Promise<string> {
  const found = challenges.get(challenge);
  if (found === undefined || found.expiresAtMs <= clock.nowMs() || found.attemptsLeft <= 0) {
    challenges.delete(challenge);
    throw refusal('unauthenticated', 'the challenge has lapsed: sign in again');
  }
  found.attemptsLeft--;
  const totp = store.get(credentials, found.userId)?.totp;
  const next = totp === undefined ? null : await useSecondFactor(totp, code, clock.nowMs());
  const accepted = await store.write((tx) => {
    const credential = tx.get(credentials, found.userId);
    const user = tx.get(users, found.userId);
    if (credential === undefined || user === undefined) return false;
    // Another answer may have used the same code meanwhile.
    const fresh = JSON.stringify(credential.totp) === JSON.stringify(totp);
    if (next === null || !fresh || isLockedOut(credential, clock.nowMs())) {
      tx.put(credentials, afterFailure(credential, clock.nowMs()));
      tx.audit({ ...sessionNote(user, 'login_failed', user.id), metadata: { address } });
      return false;
    }
    tx.put(credentials, { ...credential, totp: next, failedAttempts: 0 });
    return true;
  });
  if (!accepted) throw refusal('unauthenticated', 'code: is wrong or was used before');
  challenges.delete(challenge);
  return found.userId;
}

async function checkPassword(
  store: Store,
  clock: Clock,
  userId: string | undefined,
  password: string,
  address: string,
): Promise<boolean> {
  const known = userId === undefined ? undefined : store.get(credentials, userId);
  const fits = await verifyPassword(known?.passwordHash, password);
  if (userId === undefined) return false;
  return store.write((tx) => {
    const credential = tx.get(credentials, userId);
    const user = tx.get(users, userId);
    if (credential === undefined || user === undefined) return false;
    const nowMs = clock.nowMs();
    const locked = user.locked || isLockedOut(credential, nowMs);
    if (fits && !locked) {
      tx.put(credentials, { ...credential, failedAttempts: 0, lockedUntil: '' });
      return true;
    }
    if (!locked) tx.put(credentials, afterFailure(credential, nowMs));
    tx.audit({ ...sessionNote(user, 'login_failed', user.id), metadata: { address } });
    return false;
  });
}

function isLockedOut(credential: CredentialRecord, nowMs: number): boolean {
  return credential.lockedUntil !== '' && Date.parse(credential.lockedUntil) > nowMs;
}

function afterFailure(credential: CredentialRecord, nowMs: number): CredentialRecord {
  const failedAttempts = credential.failedAttempts + 1;
  if (failedAttempts < lockAfterFailures) return { ...credential, failedAttempts };
  const lockedUntil = new Date(nowMs + lockMs).toISOString();
  return { ...credential, failedAttempts: 0, lockedUntil };
}
