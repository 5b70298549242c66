/**
 * Takes names and values of a query or form apart as the rules do (`&` between pairs, the first
 * `=` ends a name, `+` is a space, %XX is decoded once). Texts are UTF-8; what is none is said.
 */

import { isUtf8 } from 'node:buffer';
import { hexValue } from '../../base/hex-value.ts';
import { schemaLimits } from '../../base/schema-limits.ts';

/** One pair. */
export interface Pair {
  /** Null where it cannot be decoded. */
  readonly name: string | null;
  /** As it was sent; a byte string. */
  readonly raw: string;
}

/** Pairs of a byte string; null when there are more than may be. */
export function readPairs(text: string): Pair[] | null {
  const pairs: Pair[] = [];
  let from = 0;
  while (from < text.length) {
    let end = text.indexOf('&', from);
    if (end < 0) end = text.length;
    if (end > from) {
      if (pairs.length >= schemaLimits.pairsMax) return null;
      const equals = text.indexOf('=', from);
      const split = equals >= 0 && equals < end;
      const name = decodeForm(text.slice(from, split ? equals : end));
      pairs.push({ name, raw: split ? text.slice(equals + 1, end) : '' });
    }
    from = end + 1;
  }
  return pairs;
}

/** Text of a form-encoded byte string; null where an escape is broken or it is not UTF-8. */
export function decodeForm(text: string): string | null {
  return decodePercent(text.includes('+') ? text.replaceAll('+', ' ') : text);
}

/** Text of a percent-encoded byte string; null where an escape is broken or it is not UTF-8. */
export function decodePercent(text: string): string | null {
  let plain = text;
  if (text.includes('%')) {
    plain = '';
    for (let at = 0; at < text.length; at++) {
      const unit = text.charCodeAt(at);
      if (unit !== 0x25) {
        plain += text[at]!;
        continue;
      }
      const high = hexOf(text, at + 1);
      const low = hexOf(text, at + 2);
      if (high < 0 || low < 0) return null;
      plain += String.fromCharCode((high << 4) | low);
      at += 2;
    }
  }
  return fromUtf8(plain);
}

/** Text of a byte string; null where it is not UTF-8. */
export function fromUtf8(bytes: string): string | null {
  if (!/[\x80-\xff]/.test(bytes)) return bytes;
  const buffer = Buffer.from(bytes, 'latin1');
  return isUtf8(buffer) ? buffer.toString('utf8') : null;
}

function hexOf(text: string, at: number): number {
  return at < text.length ? hexValue[text.charCodeAt(at) & 0xff]! : -1;
}
