/** Time-based codes and recovery codes as a second factor. A code works once. */

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { TotpRecord } from '../store/collections.ts';

const stepMs = 30_000;
const issuer = 'WAF';
const recoveryCodes = 10;

/** A fresh secret in base32, with the URI that authenticator apps read. */
export async function makeTotpSecret(
  username: string,
): Promise<{ readonly secret: string; readonly provisioningUri: string }> {
  const { Secret, TOTP } = await import('otpauth');
  const secret = new Secret({ size: 20 });
  const totp = new TOTP({ issuer, label: username, secret });
  return { secret: secret.base32, provisioningUri: totp.toString() };
}

/** The time step that `code` belongs to, with one step of tolerance; null when it fits none. */
export async function totpStep(
  secret: string,
  code: string,
  nowMs: number,
): Promise<number | null> {
  if (!/^\d{6}$/.test(code)) return null;
  const { Secret, TOTP } = await import('otpauth');
  const totp = new TOTP({ secret: Secret.fromBase32(secret) });
  const delta = totp.validate({ token: code, timestamp: nowMs, window: 1 });
  return delta === null ? null : Math.floor(nowMs / stepMs) + delta;
}

/** The factor after `code` was used: a time code not used before, or a recovery code; or null. */
export async function useSecondFactor(
  totp: TotpRecord,
  code: string,
  nowMs: number,
): Promise<TotpRecord | null> {
  const trimmed = code.trim();
  const step = await totpStep(totp.secret, trimmed, nowMs);
  if (step !== null) return step > totp.lastStep ? { ...totp, lastStep: step } : null;
  const used = digest(normalize(trimmed));
  const left = totp.recoverySha256.filter((one) => !same(one, used));
  return left.length === totp.recoverySha256.length ? null : { ...totp, recoverySha256: left };
}

/** Recovery codes to show once, and what is kept of them. */
export function makeRecoveryCodes(): { readonly codes: string[]; readonly sha256: string[] } {
  const codes = Array.from({ length: recoveryCodes }, () => {
    const text = randomBytes(8).toString('hex');
    return `${text.slice(0, 4)}-${text.slice(4, 8)}-${text.slice(8, 12)}-${text.slice(12)}`;
  });
  return { codes, sha256: codes.map((code) => digest(normalize(code))) };
}

function normalize(code: string): string {
  return code.toLowerCase().replace(/[^0-9a-f]/g, '');
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function same(left: string, right: string): boolean {
  return left.length === right.length && timingSafeEqual(Buffer.from(left), Buffer.from(right));
}
