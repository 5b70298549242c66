/**
 * The names of the 32 byte classes. A value's class mask has bit k set when one of its bytes
 * is of class k; the addon holds the same numbers in byte-class.h, a test compares both.
 */
import { addon } from './load-addon.ts';

/** Class numbers by name; `1 << number` (as an unsigned 32-bit value) is the class's mask bit. */
export const BYTE_CLASS = {
  lower: 0,
  upper: 1,
  digit: 2,
  underscore: 3,
  space: 4,
  whitespace: 5,
  nbsp: 6,
  nul: 7,
  control: 8,
  percent: 9,
  plus: 10,
  ampersand: 11,
  semicolon: 12,
  equals: 13,
  backslash: 14,
  slash: 15,
  asterisk: 16,
  hyphen: 17,
  hash: 18,
  doubleQuote: 19,
  singleQuote: 20,
  backtick: 21,
  caret: 22,
  comma: 23,
  dot: 24,
  colon: 25,
  angle: 26,
  dollar: 27,
  parenthesis: 28,
  pipe: 29,
  punctuation: 30,
  high: 31,
} as const;

/** The name of one byte class. */
export type ByteClassName = keyof typeof BYTE_CLASS;

/** The class of each byte value; 256 entries of 0..31. */
export const byteClassOf: Uint8Array = addon.byteClasses();

/** The unsigned 32-bit mask of some classes. */
export function maskOfClasses(...names: readonly ByteClassName[]): number {
  let mask = 0;
  for (const name of names) mask |= 1 << BYTE_CLASS[name];
  return mask >>> 0;
}

/** The unsigned 32-bit class mask of a byte string; linear in its length. */
export function maskOfValue(value: string): number {
  let mask = 0;
  for (let i = 0; i < value.length; i++) mask |= 1 << (byteClassOf[value.charCodeAt(i)] ?? 31);
  return mask >>> 0;
}
