/**
 * Reads JSON that has one reading only: RFC 8259 in UTF-8, no member twice, bounded in depth and
 * size. The bytes are those that the rules inspect and the origin gets.
 */

import { isAscii, isUtf8 } from 'node:buffer';
import { schemaLimits } from '../../base/schema-limits.ts';
import { onOneSide } from './exact-number.ts';

/** Why there is no value. `malformed` and `duplicate` break every schema; the others are bounds. */
export type JsonFault = 'malformed' | 'encoding' | 'duplicate' | 'depth' | 'size';

/** A value, or why there is none. */
export type PlainJson = { readonly value: unknown } | { readonly fault: JsonFault };

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;

/** A member that came twice takes this many characters at least: `"":0,`. */
const memberCharsMin = 5;

/**
 * The value of a document; numbers as `exact-number.ts` has them. Cost: of a document without
 * blanks and escapes, one pass over the text and one over the value: nothing in it is left that
 * could be a member twice. Of others one pass more: members are counted in the text and in the
 * value, a name that came twice makes the difference.
 */
export function readPlainJson(bytes: Buffer): PlainJson {
  const ascii = isAscii(bytes);
  if (!ascii && !isUtf8(bytes)) return { fault: 'encoding' };
  // JSON.parse takes no byte order mark off, but toString keeps it: it is refused as malformed.
  const text = bytes.toString(ascii ? 'latin1' : 'utf8');
  // So few characters cannot hold too many members and items.
  const early = text.length <= schemaLimits.jsonNodesMax ? parse(text) : undefined;
  if (early && text.length - charsMin(early.value, 0) < memberCharsMin) return early;
  const members = countMembers(bytes);
  if (typeof members === 'string') return { fault: members };
  const read = early === undefined ? parse(text) : early;
  if (read === null) return { fault: 'malformed' };
  if (membersOf(read.value) !== members) return { fault: 'duplicate' };
  const exact = onOneSide(text);
  return exact === text ? read : { value: JSON.parse(exact) as unknown };
}

function parse(text: string): { readonly value: unknown } | null {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return null;
  }
}

/**
 * The fewest characters that a text of this value can have; -Infinity where it is too deep.
 * `depth`: containers around it.
 */
function charsMin(value: unknown, depth: number): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value === 'number') return numberCharsMin(value);
  if (typeof value !== 'object') return value === true ? 4 : 5;
  if (value === null) return 4;
  if (depth === schemaLimits.jsonDepthMax) return -Infinity;
  let chars = 1;
  if (Array.isArray(value)) {
    for (const item of value) chars += charsMin(item, depth + 1) + 1;
    return chars === 1 ? 2 : chars;
  }
  const object = value as Record<string, unknown>;
  for (const name in object) chars += name.length + 4 + charsMin(object[name], depth + 1);
  return chars === 1 ? 2 : chars;
}

/** Up to here a fraction of three digits is not lost. */
const wholeMax = 1e12;

/** A whole number has its digits, or `e` and an exponent for zeros at the end; others `0.5`. */
function numberCharsMin(value: number): number {
  let left = value < 0 ? -value : value;
  // A large one may have lost a fraction that is short.
  if (left > wholeMax || left % 1 !== 0) return 3;
  let chars = value < 0 ? 2 : 1;
  if (left === 0) return chars;
  let zeros = 0;
  for (; left % 10 === 0; left /= 10) zeros++;
  for (let bound = 10; left >= bound; bound *= 10) chars++;
  return chars + Math.min(zeros, 2);
}

/** Colons outside of strings; in well-formed text that is the number of members. */
function countMembers(bytes: Buffer): number | JsonFault {
  const { length } = bytes;
  let members = 0;
  let commas = 0;
  let depth = 0;
  for (let at = 0; at < length; at++) {
    const byte = bytes[at]!;
    if (byte === QUOTE) {
      at = endOfString(bytes, at + 1);
    } else if (byte === COLON) members++;
    else if (byte === COMMA) commas++;
    else if (byte === 0x7b || byte === 0x5b) {
      if (++depth > schemaLimits.jsonDepthMax) return 'depth';
    } else if (byte === 0x7d || byte === 0x5d) depth--;
  }
  return members + commas > schemaLimits.jsonNodesMax ? 'size' : members;
}

/** Offset of the closing quote. */
function endOfString(bytes: Buffer, start: number): number {
  let at = start;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at;
}

/** Members of all objects of a value; its depth is bounded. */
function membersOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === 'object') count += membersOf(item);
    return count;
  }
  const object = value as Record<string, unknown>;
  for (const name in object) {
    count++;
    const member = object[name];
    if (typeof member === 'object') count += membersOf(member);
  }
  return count;
}
