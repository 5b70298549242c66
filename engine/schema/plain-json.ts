/**
 * Reads JSON that has one reading only: RFC 8259 in UTF-8, no member twice, bounded in depth and
 * size. The bytes are those that the rules inspect and the origin gets.
 */

import { isAscii, isUtf8 } from 'node:buffer';
import { schemaLimits } from '../base/schema-limits.ts';

/** Why there is no value. `malformed` and `duplicate` break every schema; the others are bounds. */
export type JsonFault = 'malformed' | 'encoding' | 'duplicate' | 'depth' | 'size';

/** A value, or why there is none. */
export type PlainJson = { readonly value: unknown } | { readonly fault: JsonFault };

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;

/**
 * The value of a document. Cost: two passes over the bytes and one over the value. Members are
 * counted in the text and in the value: a name that came twice makes the difference.
 */
export function readPlainJson(bytes: Buffer): PlainJson {
  const ascii = isAscii(bytes);
  if (!ascii && !isUtf8(bytes)) return { fault: 'encoding' };
  // JSON.parse takes no byte order mark off, but toString keeps it: it is refused as malformed.
  const members = countMembers(bytes);
  if (typeof members === 'string') return { fault: members };
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString(ascii ? 'latin1' : 'utf8'));
  } catch {
    return { fault: 'malformed' };
  }
  return membersOf(value) === members ? { value } : { fault: 'duplicate' };
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
