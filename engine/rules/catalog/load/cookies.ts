/** Owns how a Cookie header is split into REQUEST_COOKIES rows; never copies a byte. */

import { valueLimits } from '../../../base/limits.ts';
import { reachLimit } from '../inspection-limits.ts';
import type { Transaction } from '../transaction.ts';
import { SOURCE } from '../values.ts';

const SEMICOLON = 0x3b;
const EQUALS = 0x3d;

/**
 * Reads the Cookie value that stands in [start, end) of the slab. Names lose leading white space,
 * cookies without a name are skipped, one without `=` has the empty value, and white space behind
 * the whole header is no part of the last value. Source: ModSecurity v3, RFC 6265 section 5.2.
 */
export function readCookies(tx: Transaction, start: number, end: number): void {
  const values = tx.values;
  const slab = values.slab;
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
    if (name < nameEnd) {
      values.add(SOURCE.requestCookie, name, nameEnd, equals < 0 ? at : equals + 1, at);
    }
    from = at + 1;
  }
}

/** True for the six bytes that C's isspace knows. */
export function isSpace(byte: number): boolean {
  return byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);
}
