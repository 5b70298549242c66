/** When managed certificates are renewed, and when a failed order is tried again. Pure. */

import { acmeLimits } from '../limits/acme-limits.ts';

/** Life of a certificate, milliseconds since the epoch. */
export interface Life {
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
}

/**
 * When to renew. `window` is what the authority suggests (RFC 9773 section 4.2: a random moment of
 * it); without one, two thirds of the life, up to a twentieth of it earlier or later so that many
 * certificates of one day spread. `random` is from 0 to 1.
 */
export function renewAtMs(
  { notBeforeMs, notAfterMs }: Life,
  window: { readonly startMs: number; readonly endMs: number } | null,
  random: number,
): number {
  if (window !== null) return window.startMs + random * (window.endMs - window.startMs);
  const life = notAfterMs - notBeforeMs;
  return notBeforeMs + life * (2 / 3 + (random - 0.5) * 0.1);
}

/**
 * How long to wait after `attempts` failures in a row: a minute, doubling to a day, up to a quarter
 * more; never less than the authority asks for.
 */
export function retryDelayMs(attempts: number, retryAfterMs: number, random: number): number {
  const { retryMinMs, retryMaxMs } = acmeLimits;
  const doubled = Math.min(retryMinMs * 2 ** Math.max(0, attempts - 1), retryMaxMs);
  return Math.max(doubled * (1 + random * 0.25), retryAfterMs);
}
