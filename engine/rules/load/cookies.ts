/** Splits a Cookie header into REQUEST_COOKIES rows, in every way that backends split it. */

import { valueLimits } from '../../../base/rule-limits.ts';
import { reachLimit } from '../transaction/inspection-limits.ts';
import type { Transaction } from '../transaction/transaction.ts';
import { SOURCE } from '../transaction/values.ts';
import { isSpace, nameIs } from '../transaction/ascii.ts';

const SEMICOLON = 0x3b;
const EQUALS = 0x3d;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const ZERO = 0x30;

/**
 * Reads the Cookie value that stands in [start, end) of the slab. Names lose leading white space,
 * one without `=` has the empty value, and white space after the whole header is no part of the
 * last value. Source: ModSecurity v3, RFC 6265 section 5.2. Backends read more, which is added:
 * cookies without a name (`=value`, or `value`), and what stands in quotes (`addQuoted`).
 */
export function readCookies(tx: Transaction, start: number, end: number): void {
  const values = tx.values;
  let { slab } = values;
  let stop = end;
  while (stop > start && isSpace(slab[stop - 1]!)) stop--;
  let from = start;
  while (from < stop) {
    if (values.rowsOf(SOURCE.requestCookie).length >= valueLimits.cookiesMax) {
      reachLimit(tx, 'cookies');
      if (!tx.settings.inspectsUnparsed) return;
    }
    let at = from;
    let equals = -1;
    for (; at < stop; at++) {
      const byte = slab[at]!;
      if (byte === SEMICOLON) break;
      if (byte === EQUALS && equals < 0) equals = at;
    }
    const nameEnd = equals < 0 ? at : equals;
    let name = from;
    while (name < nameEnd && isSpace(slab[name]!)) name++;
    let value = equals < 0 ? at : equals + 1;
    if (name < nameEnd) values.add(SOURCE.requestCookie, name, nameEnd, value, at);
    while (value < at && isSpace(slab[value]!)) value++;
    if (equals < 0) value = name;
    const key = equals < 0 ? name : nameEnd;
    if (value < at) {
      if (key === name) values.add(SOURCE.requestCookie, name, name, value, at);
      if (slab[value] === QUOTE) addQuoted(tx, name, key, value, at, stop);
      slab = values.slab;
    }
    from = at + 1;
  }
}

/**
 * Reads all Cookie fields of a request as the one field that some servers make of them, joined by a
 * comma and a blank: a cookie may then begin in one field and end in the next. Call it where there
 * are several, after each was read. Source: RFC 9110 section 5.2; PHP's own server. Cost: one copy.
 */
export function readJoinedCookies(tx: Transaction): void {
  const { values } = tx;
  const start = values.used;
  for (const row of values.rowsOf(SOURCE.requestHeader)) {
    if (!nameIs(values.slab, values.keyStart[row]!, values.keyEnd[row]!, 'cookie')) continue;
    if (values.used > start) values.appendText(', ');
    values.append(values.slab, values.start[row], values.end[row]);
  }
  readCookies(tx, start, values.used);
}

/**
 * A value in quotes as Django, Flask and Express read it: without them, `\"` and `\073` decoded. To
 * Flask it ends at the next quote that is not escaped, also after semicolons.
 * Source: Python http.cookies, werkzeug `parse_cookie`, npm cookie. Cost: linear; what is searched
 * for a quote ends at the next value that begins with one.
 */
function addQuoted(
  tx: Transaction,
  keyStart: number,
  keyEnd: number,
  start: number,
  end: number,
  stop: number,
): void {
  const { values } = tx;
  let last = end;
  while (last > start && isSpace(values.slab[last - 1]!)) last--;
  if (last - start > 1 && values.slab[last - 1] === QUOTE) {
    addUnquoted(tx, keyStart, keyEnd, start + 1, last - 1);
  }
  let close = start + 1;
  while (close < stop && values.slab[close] !== QUOTE) {
    close += values.slab[close] === BACKSLASH ? 2 : 1;
  }
  if (close < stop && close > end) addUnquoted(tx, keyStart, keyEnd, start + 1, close);
}

/** The text in [from, to) as a row; as another one with its backslashes decoded, if it has any. */
function addUnquoted(
  tx: Transaction,
  keyStart: number,
  keyEnd: number,
  from: number,
  to: number,
): void {
  const { values } = tx;
  values.add(SOURCE.requestCookie, keyStart, keyEnd, from, to);
  values.reserve(to - from);
  const { slab } = values;
  if (!slab.subarray(from, to).includes(BACKSLASH)) return;
  const start = values.used;
  let out = start;
  for (let at = from; at < to; at++) {
    let byte = slab[at]!;
    if (byte === BACKSLASH && at + 1 < to) {
      const octal = at + 4 <= to ? octalAt(slab, at + 1) : -1;
      byte = octal >= 0 ? octal : slab[at + 1]!;
      at += octal >= 0 ? 3 : 1;
    }
    slab[out++] = byte;
  }
  values.used = out;
  values.add(SOURCE.requestCookie, keyStart, keyEnd, start, out);
}

/** Value of three octal digits up to 0o377; -1 where there are none. */
function octalAt(slab: Uint8Array, at: number): number {
  const high = slab[at]! - ZERO;
  const middle = slab[at + 1]! - ZERO;
  const low = slab[at + 2]! - ZERO;
  const isOctal = high >= 0 && high <= 3 && middle >= 0 && middle <= 7 && low >= 0 && low <= 7;
  return isOctal ? high * 64 + middle * 8 + low : -1;
}
