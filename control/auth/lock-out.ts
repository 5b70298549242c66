/** Owns counting failed proofs of a user, and the time for which too many keep the user out. */

import type { UserRecord } from '../domain/records.ts';
import { defaultTenantId } from '../domain/records.ts';
import { credentials, users, type CredentialRecord } from '../store/collections.ts';
import type { AuditNote } from '../store/audit-chain.ts';
import type { WriteStore } from '../store/store.ts';

const lockAfterFailures = 5;
const lockMs = 15 * 60_000;

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
  readonly method: string;
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
  const out = user === undefined || credential === undefined || isOut(user, credential, nowMs);
  const next = out ? null : right(credential);
  if (next !== null && user !== undefined) {
    // Failures are forgotten when a session begins: a right password must not buy more codes.
    tx.put(credentials, next);
    return { userId: user.id, sessionEpoch: next.sessionEpoch };
  }
  tx.put(credentials, out ? nobody : afterFailure(credential, nowMs));
  tx.audit(failureNote(user, attempt));
  return null;
}

/**
 * Written where no failure is counted, so that a name that no user has takes as long as any other
 * (0.15 of 11 ms less without it). No user has this id, no password this hash.
 */
const nobody: CredentialRecord = {
  id: 'nobody',
  passwordHash: '-'.repeat(97),
  failedAttempts: 0,
  lockedUntil: '',
  sessionEpoch: 0,
};

function isOut(user: UserRecord, credential: CredentialRecord, nowMs: number): boolean {
  return user.locked || isLockedOut(credential, nowMs);
}

/** Whether failures keep the user out now. */
export function isLockedOut(credential: CredentialRecord, nowMs: number): boolean {
  return credential.lockedUntil !== '' && Date.parse(credential.lockedUntil) > nowMs;
}

function afterFailure(credential: CredentialRecord, nowMs: number): CredentialRecord {
  const failedAttempts = credential.failedAttempts + 1;
  if (failedAttempts < lockAfterFailures) return { ...credential, failedAttempts };
  const lockedUntil = new Date(nowMs + lockMs).toISOString();
  return { ...credential, failedAttempts: 0, lockedUntil };
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
