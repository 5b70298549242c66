/** The byte classes of XML 1.0 and its character references, for ASCII-compatible text. */

import { hexValue } from './hex-value.ts';

const SPACE = 1;
const NAME = 2;
const NAME_START = 4;

/** Bytes from 0x80 on count as name characters; whether they are UTF-8 is checked elsewhere. */
const classes: Uint8Array = Uint8Array.from({ length: 256 }, (_, byte) => {
  const char = String.fromCharCode(byte);
  if (/[ \t\r\n]/.test(char)) return SPACE;
  if (byte >= 0x80 || /[A-Za-z_:]/.test(char)) return NAME | NAME_START;
  return /[0-9.-]/.test(char) ? NAME : 0;
});

/** Blank, tab, CR or LF. */
export function isXmlSpace(byte: number): boolean {
  return (classes[byte]! & SPACE) !== 0;
}

/** May stand in a name. */
export function isNameByte(byte: number): boolean {
  return (classes[byte]! & NAME) !== 0;
}

/** May begin a name. */
export function isNameStart(byte: number): boolean {
  return (classes[byte]! & NAME_START) !== 0;
}

/** The five entities of the standard, after the ampersand. */
const entities: readonly (readonly [string, number])[] = [
  ['lt;', 0x3c],
  ['gt;', 0x3e],
  ['amp;', 0x26],
  ['quot;', 0x22],
  ['apos;', 0x27],
];

/** Longest character reference read: leading zeros do not make it longer. */
const digitsMax = 10;

/**
 * Code point of the reference whose ampersand is at `at`, times 16, plus its length in bytes (at
 * most 14); -1 when it is none or names no XML character. One number, so that nothing is allocated.
 */
export function readReference(slab: Uint8Array, at: number, end: number): number {
  if (at + 1 < end && slab[at + 1] === 0x23) return readNumber(slab, at, end);
  for (const [text, code] of entities) {
    let i = 0;
    while (i < text.length && at + 1 + i < end && slab[at + 1 + i] === text.charCodeAt(i)) i++;
    if (i === text.length) return code * 16 + text.length + 1;
  }
  return -1;
}

function readNumber(slab: Uint8Array, at: number, end: number): number {
  const hex = at + 2 < end && slab[at + 2] === 0x78;
  const first = at + (hex ? 3 : 2);
  const stop = Math.min(end, first + digitsMax);
  let code = 0;
  let i = first;
  for (; i < stop; i++) {
    const digit = hexValue[slab[i]!]!;
    if (digit < 0 || (!hex && digit > 9)) break;
    code = code * (hex ? 16 : 10) + digit;
  }
  if (i === first || i >= end || slab[i] !== 0x3b || !isXmlCharacter(code)) return -1;
  return code * 16 + i + 1 - at;
}

/** XML 1.0 section 2.2. */
function isXmlCharacter(code: number): boolean {
  if (code < 0x20) return code === 0x09 || code === 0x0a || code === 0x0d;
  return code < 0xd800 || (code >= 0xe000 && code < 0xfffe) || (code > 0xffff && code < 0x110000);
}
