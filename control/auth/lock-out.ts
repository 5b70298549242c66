/**
 * Counts failed proofs of a user and keeps out who failed too often: first the address, then the
 * account for addresses that the user has not signed in from. What came over the network never
 * keeps anybody out of the administration socket, and strangers without a password never lock the
 * account of the last administrator.
 */

import { signInLimits } from '../limits/sign-in-limits.ts';
import type { UserRecord } from '../domain/records.ts';
import { defaultTenantId } from '../domain/records.ts';
import { credentials, users, type CredentialRecord } from '../store/collections.ts';
import type { AuditNote } from '../store/audit-chain.ts';
import type { ReadStore, WriteStore } from '../store/store.ts';
import { hasOtherAdministrator } from './administrators.ts';
import {
  originIn,
  signInOriginOf,
  socketOrigin,
  withFailure,
  withoutFailures,
  withSignIn,
} from './sign-in-origins.ts';

const { lockAfterFailures, lockAccountAfterFailures, lockMs } = signInLimits;

/** What a finished sign-in may begin: void as soon as the user's sessions were ended meanwhile. */
export interface Proof {
  readonly userId: string;
  readonly sessionEpoch: number;
}

/** How a proof was tried. */
export interface Attempt {
  /** Empty for a name that no user has; the work is the same. */
  readonly userId: string;
  readonly address: string;
  /** Where the sign-in began, if elsewhere: a failure counts there. */
  readonly beganAt?: string;
  readonly method: string;
  /**
   * Only who has proved something already can try: a second factor, a password within a session.
   * Such failures lock the account sooner, also that of the last administrator.
   */
  readonly further?: boolean;
}

/**
 * Settles an attempt: what was right counts only while the user is not kept out, what was wrong is
 * counted and audited. `right` maps the credential as it now is to the one to keep, or to null when
 * the proof is wrong or stale.
 */
export function settleAttempt(
  tx: WriteStore,
  nowMs: number,
  attempt: Attempt,
  right: (credential: CredentialRecord) => CredentialRecord | null,
): Proof | null {
  const user = tx.get(users, attempt.userId);
  const credential = tx.get(credentials, attempt.userId);
  const origin = signInOriginOf(attempt.beganAt ?? attempt.address);
  const known = user === undefined || credential === undefined ? null : { user, credential };
  const out = known === null || isOut(known.user, known.credential, origin, nowMs);
  const next = out ? null : right(known.credential);
  if (next !== null) {
    // Failures are forgotten when a session begins: a right password must not buy more codes.
    tx.put(credentials, next);
    return { userId: next.id, sessionEpoch: next.sessionEpoch };
  }
  const failed = out ? nobody : afterFailure(tx, known.user, known.credential, attempt, nowMs);
  tx.put(credentials, failed);
  tx.audit(failureNote(user, attempt));
  return null;
}

/**
 * Written where no failure is counted, so that an unknown name takes as long as any other (0.15 of
 * 11 ms less without it). The id belongs to no user, the hash to no password.
 */
const nobody: CredentialRecord = {
  id: 'nobody',
  passwordHash: '-'.repeat(97),
  failedAttempts: 0,
  lockedUntil: '',
  sessionEpoch: 0,
};

function isOut(
  user: UserRecord,
  credential: CredentialRecord,
  origin: string,
  nowMs: number,
): boolean {
  if (user.locked) return true;
  const { lockedUntilMs, signedIn } = originIn(credential.origins ?? [], origin);
  if (lockedUntilMs > nowMs) return true;
  return origin !== socketOrigin && !signedIn && isAccountLocked(credential, nowMs);
}

function isAccountLocked({ lockedUntil }: CredentialRecord, nowMs: number): boolean {
  return lockedUntil !== '' && Date.parse(lockedUntil) > nowMs;
}

/** Whether failures keep the user out for now: the account, or the socket after failures there. */
export function isLockedOut(credential: CredentialRecord, nowMs: number): boolean {
  const { lockedUntilMs } = originIn(credential.origins ?? [], socketOrigin);
  return lockedUntilMs > nowMs || isAccountLocked(credential, nowMs);
}

/** Whether the user has signed in from an address: the limit of strangers is not for it. */
export function isKnownOrigin(credential: CredentialRecord, address: string): boolean {
  return originIn(credential.origins ?? [], signInOriginOf(address)).signedIn;
}

/** The credential of a user whom somebody lets in again: nothing failed. */
export function forgiven(credential: CredentialRecord): CredentialRecord {
  const origins = withoutFailures(credential.origins ?? []);
  return { ...credential, failedAttempts: 0, failedFactors: 0, lockedUntil: '', origins };
}

/** The credential of a user whose session begins: failures there and of the account are over. */
export function signedInFrom(credential: CredentialRecord, address: string): CredentialRecord {
  const origins = withSignIn(credential.origins ?? [], signInOriginOf(address));
  return { ...credential, failedAttempts: 0, failedFactors: 0, lockedUntil: '', origins };
}

function afterFailure(
  store: ReadStore,
  user: UserRecord,
  credential: CredentialRecord,
  attempt: Attempt,
  nowMs: number,
): CredentialRecord {
  const origin = signInOriginOf(attempt.beganAt ?? attempt.address);
  const origins = withFailure(credential.origins ?? [], origin, nowMs);
  const noted = { ...credential, origins };
  if (origin === socketOrigin) return noted;
  const further = attempt.further === true;
  const counter = further ? 'failedFactors' : 'failedAttempts';
  const failed = (credential[counter] ?? 0) + 1;
  const counted = { ...noted, [counter]: failed };
  if (failed < (further ? lockAfterFailures : lockAccountAfterFailures)) return counted;
  const over = { ...noted, [counter]: 0 };
  if (!further && !hasOtherAdministrator(store, user)) return over;
  return { ...over, lockedUntil: new Date(nowMs + lockMs).toISOString() };
}

/** The name that was typed is not kept: people type passwords there. */
function failureNote(user: UserRecord | undefined, { address, method }: Attempt): AuditNote {
  return {
    actorId: user?.id ?? '',
    actorName: user?.username ?? '',
    tenantId: user?.tenantId ?? defaultTenantId,
    action: 'login_failed',
    resourceType: 'session',
    resourceId: user?.id ?? '',
    metadata: { address, method },
  };
}
