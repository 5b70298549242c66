/**
 * Checks a password or a code against what is stored of a user; the work is the same for everybody.
 */

import type { CredentialRecord } from '../store/collections.ts';
import { credentials } from '../store/collections.ts';
import { settleAttempt, type Attempt, type Proof } from './lock-out.ts';
import { verifyPassword } from './passwords.ts';
import type { SignInParts } from './sign-in-challenges.ts';
import { useSecondFactor } from './totp.ts';

/** Null when the code is wrong, was used before, or the user is kept out. */
export async function checkTotp(
  { store, clock }: Pick<SignInParts, 'store' | 'clock'>,
  attempt: Attempt,
  code: string,
  sessionEpoch?: number,
): Promise<Proof | null> {
  const totp = store.get(credentials, attempt.userId)?.totp;
  const next = totp === undefined ? null : await useSecondFactor(totp, code, clock.nowMs());
  return store.write((tx) =>
    settleAttempt(tx, clock.nowMs(), attempt, (credential) => {
      // Another answer may have used the same code meanwhile.
      const fresh = JSON.stringify(credential.totp) === JSON.stringify(totp);
      const current = sessionEpoch === undefined || credential.sessionEpoch === sessionEpoch;
      return next !== null && fresh && current ? { ...credential, totp: next } : null;
    }),
  );
}

/** Null when the password is wrong or the user is kept out; the work is the same for everybody. */
export async function checkPassword(
  { store, clock }: Pick<SignInParts, 'store' | 'clock'>,
  attempt: Attempt,
  password: string,
): Promise<Proof | null> {
  const known: CredentialRecord | undefined = store.get(credentials, attempt.userId);
  const fits = await verifyPassword(known?.passwordHash || undefined, password);
  return store.write((tx) =>
    settleAttempt(tx, clock.nowMs(), attempt, (credential) => {
      // The password may have been changed while the old one was being compared.
      const current = credential.passwordHash === known?.passwordHash;
      return fits && current ? credential : null;
    }),
  );
}
