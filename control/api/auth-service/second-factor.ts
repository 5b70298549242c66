/** The caller's second factor: status, enrollment, removal, recovery codes. */

import { randomBytes } from 'node:crypto';
import { timestampFromDate, timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { AuthService } from '../../../proto/gen/waf/v1/auth_pb.ts';
import { signInLimits } from '../../limits/sign-in-limits.ts';
import type { Caller } from '../../auth/permissions.ts';
import { makeRecoveryCodes, makeTotpSecret, totpStep } from '../../auth/totp.ts';
import { refusal } from '../../domain/errors.ts';
import { credentials, type CredentialRecord, type TotpRecord } from '../../store/collections.ts';
import { callerOf, type Uses } from '../context.ts';
import { requireText } from '../convert.ts';
import type { Method } from '../method.ts';
import { noteAction } from '../resource/owned.ts';
import { userKind } from '../user-service/user.ts';
import { requireUser } from './own-user.ts';

const enrollmentMs = 10 * 60_000;

interface Enrollment {
  readonly userId: string;
  readonly secret: string;
  readonly expiresAtMs: number;
}

/** Enrollments that wait for their code; a restart forgets them. */
const enrollments = new Map<string, Enrollment>();

/** Which second factors the caller has. */
export function getMfaStatus(parts: Uses<'store'>): Method<typeof AuthService, 'getMFAStatus'> {
  return (_request, context) => {
    const totp = confirmedFactor(parts, callerOf(context));
    if (totp === null) return { totpEnabled: false };
    return {
      totpEnabled: true,
      enabledAt: timestampFromDate(new Date(totp.confirmedAt)),
      recoveryCodesLeft: totp.recoverySha256.length,
    };
  };
}

/** Makes a secret that a code has to prove. */
export function beginTotpEnrollment(
  parts: Uses<'store' | 'clock'>,
): Method<typeof AuthService, 'beginTOTPEnrollment'> {
  return async (_request, context) => {
    const caller = callerOf(context);
    const user = requireUser(parts.store, caller);
    if (confirmedFactor(parts, caller) !== null) {
      throw alreadyOn();
    }
    const { secret, provisioningUri } = await makeTotpSecret(user.username);
    const enrollmentToken = randomBytes(24).toString('base64url');
    const expiresAtMs = parts.clock.nowMs() + enrollmentMs;
    enrollments.set(enrollmentToken, { userId: user.id, secret, expiresAtMs });
    if (enrollments.size > signInLimits.enrollmentsMax) {
      enrollments.delete(enrollments.keys().next().value ?? '');
    }
    const expiresAt = timestampFromMs(expiresAtMs);
    return { enrollmentToken, secret, provisioningUri, expiresAt };
  };
}

/** Switches the factor on. */
export function confirmTotpEnrollment(
  parts: Uses<'store' | 'clock'>,
): Method<typeof AuthService, 'confirmTOTPEnrollment'> {
  return async ({ enrollmentToken, code }, context) => {
    const caller = callerOf(context);
    requireText(enrollmentToken, 'enrollmentToken');
    requireText(code, 'code');
    const enrollment = enrollments.get(enrollmentToken);
    const nowMs = parts.clock.nowMs();
    if (enrollment?.userId !== caller.userId || enrollment.expiresAtMs <= nowMs) {
      throw refusal('failed_precondition', 'enrollmentToken: has lapsed; begin again');
    }
    const lastStep = await totpStep(enrollment.secret, code.trim(), nowMs);
    if (lastStep === null) throw refusal('invalid_argument', 'code: does not fit the secret');
    const { codes, sha256 } = makeRecoveryCodes();
    const confirmedAt = new Date(nowMs).toISOString();
    const { secret } = enrollment;
    const totp: TotpRecord = { secret, confirmedAt, lastStep, recoverySha256: sha256 };
    await changeFactor(parts, caller, 'enable_totp', (now) => {
      // Another enrollment came first: only its code may replace it.
      if (now !== undefined && now.confirmedAt !== '') throw alreadyOn();
      return totp;
    });
    enrollments.delete(enrollmentToken);
    return { enabled: true, recoveryCodes: codes };
  };
}

/** Switches the factor off. */
export function disableTotp(
  parts: Uses<'store' | 'signIn'>,
): Method<typeof AuthService, 'disableTOTP'> {
  return async ({ code }, context) => {
    const caller = callerOf(context);
    await requireFactor(parts, caller, code);
    await changeFactor(parts, caller, 'disable_totp', () => undefined);
    return { disabled: true };
  };
}

/** Replaces all recovery codes. */
export function regenerateRecoveryCodes(
  parts: Uses<'store' | 'signIn'>,
): Method<typeof AuthService, 'regenerateRecoveryCodes'> {
  return async ({ code }, context) => {
    const caller = callerOf(context);
    await requireFactor(parts, caller, code);
    const { codes, sha256 } = makeRecoveryCodes();
    await changeFactor(parts, caller, 'regenerate_recovery_codes', (now) =>
      now === undefined ? undefined : { ...now, recoverySha256: sha256 },
    );
    return { recoveryCodes: codes };
  };
}

function confirmedFactor(parts: Uses<'store'>, caller: Caller): TotpRecord | null {
  const totp = parts.store.get(credentials, caller.userId)?.totp;
  return totp === undefined || totp.confirmedAt === '' ? null : totp;
}

function alreadyOn(): Error {
  return refusal('failed_precondition', 'a factor is on already: switch it off first');
}

/** Uses a code up; wrong ones count towards the lock-out. */
async function requireFactor(
  parts: Uses<'store' | 'signIn'>,
  caller: Caller,
  code: string,
): Promise<void> {
  requireText(code, 'code');
  if (confirmedFactor(parts, caller) === null) {
    throw refusal('failed_precondition', 'no second factor is on');
  }
  if (await parts.signIn.useFactor(caller.userId, code, caller.address)) return;
  throw refusal('permission_denied', 'code: is wrong or was used before');
}

function changeFactor(
  parts: Uses<'store'>,
  caller: Caller,
  action: string,
  next: (now: TotpRecord | undefined) => TotpRecord | undefined,
): Promise<void> {
  const user = requireUser(parts.store, caller);
  return parts.store.write((tx) => {
    const credential = tx.get(credentials, user.id);
    if (credential === undefined) return;
    const { totp: before, ...rest } = credential;
    const totp = next(before);
    const changed: CredentialRecord = totp === undefined ? rest : { ...rest, totp };
    tx.put(credentials, changed);
    noteAction(tx, caller, userKind, user, action);
  });
}
