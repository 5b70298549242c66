/** Classifies single bytes of JSON: digits, separators, what follows a backslash. */

import { hexValue } from '../../../../base/hex-value.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const CLOSE_LIST = 0x5d;
const CLOSE_OBJECT = 0x7d;

/** True for `0` to `9`. */
export function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

/** The 16-bit unit of four hexadecimal digits; -1 when they are not. */
export function readUnit(slab: Uint8Array, at: number, end: number): number {
  if (at + 4 > end) return -1;
  const a = hexValue[slab[at]!]!;
  const b = hexValue[slab[at + 1]!]!;
  const c = hexValue[slab[at + 2]!]!;
  const d = hexValue[slab[at + 3]!]!;
  return a < 0 || b < 0 || c < 0 || d < 0 ? -1 : (a << 12) | (b << 8) | (c << 4) | d;
}

/** What follows a backslash, or -1 for what RFC 8259 does not know. */
export function plainEscape(kind: number): number {
  switch (kind) {
    case QUOTE:
    case BACKSLASH:
    case 0x2f:
      return kind;
    case 0x62:
      return 0x08;
    case 0x66:
      return 0x0c;
    case 0x6e:
      return 0x0a;
    case 0x72:
      return 0x0d;
    case 0x74:
      return 0x09;
    default:
      return -1;
  }
}

/** Commas, colons and closing brackets. */
export function isSeparator(byte: number): boolean {
  return byte === COMMA || byte === COLON || byte === CLOSE_LIST || byte === CLOSE_OBJECT;
}

/** Bytes of names and numbers in any spelling. */
export function isWordByte(byte: number): boolean {
  const letter = byte | 0x20;
  if ((letter >= 0x61 && letter <= 0x7a) || isDigit(byte)) return true;
  return byte === 0x2e || byte === 0x2d || byte === 0x2b || byte === 0x5f || byte === 0x20;
}
