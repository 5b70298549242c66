/** The detectors over one value: libinjection and the three validating operators. */
import { addon } from './load-addon.ts';
import type { Value } from './load-addon.ts';

/** The fingerprint (at most 5 characters) when the value looks like SQL injection, else null. */
export function detectSqli(value: Value): string | null {
  return addon.detectSqli(value);
}

/** Does the value look like cross-site scripting in some HTML context? */
export function detectXss(value: Value): boolean {
  return addon.detectXss(value);
}

/** libinjection's version. */
export function injectionVersion(): string {
  return addon.injectionVersion();
}

/** Does a byte lie outside `allowed`, a bitmap of 32 bytes (bit b & 7 of byte b >> 3)? */
export function isOutsideByteRange(value: Value, allowed: Uint8Array): boolean {
  return addon.outsideByteRange(value, allowed);
}

/** Is there a percent sign without two hexadecimal digits after it? */
export function hasBadUrlEncoding(value: Value): boolean {
  return addon.badUrlEncoding(value);
}

/** Is the value not UTF-8 as RFC 3629 defines it (overlong, surrogate, cut off)? */
export function hasBadUtf8(value: Value): boolean {
  return addon.badUtf8(value);
}
