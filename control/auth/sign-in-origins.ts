/**
 * What is remembered of the addresses that tried to sign in as a user: failures there, and whether
 * the user signed in from there before. Bounded; pure functions over plain data.
 */

import { signInLimits } from '../limits/sign-in-limits.ts';
import type { SignInOrigin } from '../store/collections.ts';
import { originKey } from './origin-key.ts';

/** The key of the socket, which has no address. */
export const socketOrigin = 'socket';

const { lockAfterFailures, lockMs, signInOriginsMax, knownOriginsMax } = signInLimits;

/** Under which key attempts from an address are counted. */
export function signInOriginOf(address: string): string {
  return address === '' ? socketOrigin : originKey(address);
}

/** What is remembered of one origin. */
export function originIn(origins: readonly SignInOrigin[], origin: string): SignInOrigin {
  const nothing = { failedAttempts: 0, failedAtMs: 0, lockedUntilMs: 0, signedIn: false };
  return origins.find((one) => one.origin === origin) ?? { origin, ...nothing };
}

/** The list after a failure at an origin; enough of them lock that origin for a time. */
export function withFailure(
  origins: readonly SignInOrigin[],
  origin: string,
  nowMs: number,
): SignInOrigin[] {
  const before = originIn(origins, origin);
  const lapsed = nowMs - before.failedAtMs >= lockMs;
  const failed = (lapsed ? 0 : before.failedAttempts) + 1;
  const locks = failed >= lockAfterFailures;
  return putFirst(origins, {
    ...before,
    failedAttempts: locks ? 0 : failed,
    failedAtMs: nowMs,
    lockedUntilMs: locks ? nowMs + lockMs : before.lockedUntilMs,
  });
}

/** The list after a session began: failures there are forgotten and the origin is known. */
export function withSignIn(origins: readonly SignInOrigin[], origin: string): SignInOrigin[] {
  const known = { origin, failedAttempts: 0, failedAtMs: 0, lockedUntilMs: 0, signedIn: true };
  return putFirst(origins, known);
}

/** The list without failures. */
export function withoutFailures(origins: readonly SignInOrigin[]): SignInOrigin[] {
  return origins
    .filter(({ signedIn }) => signedIn)
    .map((one) => ({ ...one, failedAttempts: 0, failedAtMs: 0, lockedUntilMs: 0 }));
}

/** Newest first; known origins and others have shares of their own, so that neither drives out. */
function putFirst(origins: readonly SignInOrigin[], first: SignInOrigin): SignInOrigin[] {
  const all = [first, ...origins.filter(({ origin }) => origin !== first.origin)];
  const known = all.filter(({ signedIn }) => signedIn).slice(0, knownOriginsMax);
  const others = all.filter(({ signedIn }) => !signedIn).slice(0, signInOriginsMax);
  return [...known, ...others];
}
