/**
 * Makes rows of a piece of JSON whose beginning is not known: of what stands between quotation
 * marks, within strings or between them. Strings lose their escapes; what consists of punctuation,
 * numbers and literals alone says nothing.
 */

import { hexValue } from '../../../../base/hex-value.ts';
import { writeUtf8 } from '../../../../base/utf8.ts';
import type { Transaction } from '../../transaction/transaction.ts';
import { SOURCE, type ValueTable } from '../../transaction/values.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const UNICODE = 0x75;

/** Shorter pieces hold no attack; a megabyte of them would cost a row each. */
const shortPieceBytes = 4;

/** 1 for bytes between strings: white space, punctuation, numbers, `true`, `false`, `null`. */
const plainByte = new Uint8Array(256);
for (const char of ' \t\r\n{}[]:,+-.0123456789eEtruefalsn') plainByte[char.charCodeAt(0)] = 1;

/** What an escape of one letter stands for; other letters stand for themselves. */
const escapes = new Map<number, number>([
  [0x62, 0x08],
  [0x66, 0x0c],
  [0x6e, 0x0a],
  [0x72, 0x0d],
  [0x74, 0x09],
]);

/** Adds the pieces of [start, end) as arguments without a name. Cost: two passes at most. */
export function addJsonPieces(tx: Transaction, start: number, end: number): void {
  const { values } = tx;
  // Decoded pieces are never longer than what they decode.
  values.reserve(end - start);
  const { slab } = values;
  const key = values.used;
  let from = start;
  let escaped = false;
  let plain = true;
  for (let at = start; at <= end; at++) {
    const byte = at < end ? slab[at]! : QUOTE;
    if (byte === BACKSLASH) {
      escaped = true;
      plain = false;
      at++;
    } else if (byte !== QUOTE) {
      if (plainByte[byte] === 0) plain = false;
    }
    if (byte !== QUOTE && at < end) continue;
    const to = Math.min(at, end);
    if (!plain && to - from >= shortPieceBytes) {
      if (escaped) addDecoded(values, key, from, to);
      else values.add(SOURCE.argPost, key, key, from, to);
    }
    from = at + 1;
    escaped = false;
    plain = true;
  }
}

function addDecoded(values: ValueTable, key: number, from: number, to: number): void {
  const { slab } = values;
  const start = values.used;
  let out = start;
  for (let at = from; at < to; at++) {
    const byte = slab[at]!;
    if (byte !== BACKSLASH || at + 1 >= to) {
      slab[out++] = byte;
      continue;
    }
    const letter = slab[++at]!;
    const unit = letter === UNICODE ? unitAt(slab, at + 1, to) : -1;
    if (unit < 0) {
      slab[out++] = escapes.get(letter) ?? letter;
      continue;
    }
    at += 4;
    let code = unit;
    if (unit >= 0xd800 && unit < 0xdc00 && slab[at + 1] === BACKSLASH && at + 2 < to) {
      const low = slab[at + 2] === UNICODE ? unitAt(slab, at + 3, to) : -1;
      if (low >= 0xdc00 && low < 0xe000) {
        code = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
        at += 6;
      }
    }
    out = writeUtf8(slab, out, code);
  }
  values.used = out;
  values.add(SOURCE.argPost, key, key, start, out);
}

/** The code unit of four hexadecimal digits; -1 where there are none. */
function unitAt(slab: Uint8Array, at: number, end: number): number {
  if (at + 4 > end) return -1;
  let unit = 0;
  for (let i = 0; i < 4; i++) {
    const digit = hexValue[slab[at + i]!]!;
    if (digit < 0) return -1;
    unit = (unit << 4) | digit;
  }
  return unit;
}
