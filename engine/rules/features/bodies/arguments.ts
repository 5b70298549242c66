/**
 * How bytes become ARGS: splitting at the separator, `+` and %XX decoding, and the argument
 * limit that all sources share. Works on the slab in place; never makes strings.
 */

import { hexValue } from '../../../../base/hex-value.ts';
import { valueLimits } from '../../../../base/rule-limits.ts';
import { reachLimit } from '../../transaction/inspection-limits.ts';
import type { Transaction } from '../../transaction/transaction.ts';
import { type SourceId, SOURCE, type ValueTable } from '../../transaction/values.ts';
import { addRawText } from './raw-text.ts';

const PERCENT = 0x25;
const CLOSE_BRACKET = 0x5d;
const PLUS = 0x2b;
const SPACE = 0x20;

/** Bytes of classes 0 and 1 are handled without a branch: words end at random places. */
const ESCAPE = 1;
const EQUALS = 2;
const SEPARATOR = 3;

/** What a byte other than % means. */
const decodedByte = Uint8Array.from({ length: 256 }, (_, byte) => (byte === PLUS ? SPACE : byte));

/** Shorter pairs are left out past the limit of arguments. */
const shortPairBytes = 4;

/** Byte classes of a query string, one table a separator byte; 256 tables at most. */
const classTables: (Uint8Array | undefined)[] = [];

/**
 * Reads `name=value` pairs in [start, end) of the slab as `source` rows. Values without escapes
 * stay where they are, decoded ones are written after the used part of the slab. An invalid
 * %-sequence is kept as sent and sets URLENCODED_ERROR. A pair with `]=` after its first equals
 * sign is read both ways: qs ends the name there. Nothing between two separators is an
 * argument without name and value, as in ModSecurity 2 and 3; after the last one there is none.
 * Units: byte offsets. Cost: two passes at most over each byte.
 * Source: ModSecurity v3 `extractArguments`.
 */
export function readArguments(
  tx: Transaction,
  source: SourceId,
  start: number,
  end: number,
  separator: string,
): void {
  const values = tx.values;
  // What decoding writes is never longer than what it reads.
  values.reserve(end - start);
  let { slab } = values;
  const classes = classTable(separator);
  let from = start;
  while (from < end) {
    let at = from;
    let equals = -1;
    let bracket = -1;
    let escapedName = 0;
    let escaped = 0;
    for (; at < end; at++) {
      const kind = classes[slab[at]!]!;
      if (kind <= ESCAPE) {
        escaped |= kind;
      } else if (kind === SEPARATOR) {
        break;
      } else if (equals < 0) {
        equals = at;
        escapedName = escaped;
        escaped = 0;
        if (endsInBracket(slab, from, at)) bracket = end;
      } else if (bracket < 0 && endsInBracket(slab, from, at)) {
        bracket = at;
      }
    }
    if (!hasArgumentRoom(tx)) {
      if (tx.settings.inspectsUnparsed) addRawText(tx, source, from, end);
      return;
    }
    // Too short for any attack; a query of separators would cost a row each.
    if (at - from < shortPairBytes && isPastArgumentLimit(tx)) {
      from = at + 1;
      continue;
    }
    if (equals < 0) addPair(tx, source, from, at, escaped, at, at, 0);
    else addPair(tx, source, from, equals, escapedName, equals + 1, at, escaped);
    if (bracket >= 0 && bracket < at) {
      values.reserve(end - from);
      addPair(tx, source, from, bracket, 1, bracket + 1, at, 1);
      slab = values.slab;
    }
    from = at + 1;
  }
}

/** True where `]`, plain or as %5D, stands before `at`: qs ends a name there and no earlier. */
function endsInBracket(slab: Uint8Array, from: number, at: number): boolean {
  if (at - 1 >= from && slab[at - 1] === CLOSE_BRACKET) return true;
  if (at - 3 < from || slab[at - 3] !== PERCENT || slab[at - 2] !== 0x35) return false;
  return (slab[at - 1]! | 0x20) === 0x64;
}

/**
 * True while ARGS takes another row. Past `SecArgumentsLimit` REQBODY_ERROR is set and rows are
 * taken only with `SecInspectUnparsed`, up to a limit of their own.
 */
export function hasArgumentRoom(tx: Transaction): boolean {
  const held = tx.values.rowsOf(SOURCE.argGet).length + tx.values.rowsOf(SOURCE.argPost).length;
  if (held < tx.settings.argumentsMax) return true;
  failBody(tx, 'SecArgumentsLimit exceeded');
  reachLimit(tx, 'arguments');
  if (!tx.settings.inspectsUnparsed) return false;
  if (held < valueLimits.argumentRowsMax) return true;
  reachLimit(tx, 'argument-rows');
  return false;
}

/** True past `SecArgumentsLimit`, where rows that can hold no attack are not worth their cost. */
export function isPastArgumentLimit(tx: Transaction): boolean {
  return tx.limitsReached.length > 0 && tx.limitsReached.includes('arguments');
}

/** Records that the body could not be read as declared; the first reason stays. */
export function failBody(tx: Transaction, reason: string): void {
  if (tx.bodyError === 1) return;
  tx.bodyError = 1;
  tx.bodyErrorMessage = reason;
}

/** `keyEscaped` and `escaped` are 1 where there is something to decode. */
function addPair(
  tx: Transaction,
  source: SourceId,
  keyFrom: number,
  keyTo: number,
  keyEscaped: number,
  from: number,
  to: number,
  escaped: number,
): void {
  const values = tx.values;
  let keyStart = keyFrom;
  let keyEnd = keyTo;
  if (keyEscaped !== 0) {
    keyStart = values.used;
    keyEnd = decodeUrl(tx, values, keyFrom, keyTo);
  }
  let start = from;
  let end = to;
  if (escaped !== 0) {
    start = values.used;
    end = decodeUrl(tx, values, from, to);
  }
  values.add(source, keyStart, keyEnd, start, end);
}

/** Decodes to the end of the slab, whose room the caller reserved; returns the new end. */
function decodeUrl(tx: Transaction, values: ValueTable, from: number, to: number): number {
  const slab = values.slab;
  let out = values.used;
  for (let at = from; at < to; at++) {
    const byte = slab[at]!;
    if (byte !== PERCENT) {
      slab[out++] = decodedByte[byte]!;
    } else {
      const high = at + 2 < to ? hexValue[slab[at + 1]!]! : -1;
      const low = at + 2 < to ? hexValue[slab[at + 2]!]! : -1;
      if (high >= 0 && low >= 0) {
        slab[out++] = (high << 4) | low;
        at += 2;
      } else {
        slab[out++] = PERCENT;
        tx.urlEncodedError = 1;
      }
    }
  }
  values.used = out;
  return out;
}

function classTable(separator: string): Uint8Array {
  const byte = separator.length > 0 ? separator.charCodeAt(0) & 0xff : 0x26;
  return (classTables[byte] ??= makeClassTable(byte));
}

function makeClassTable(separator: number): Uint8Array {
  const table = new Uint8Array(256);
  table[PERCENT] = ESCAPE;
  table[PLUS] = ESCAPE;
  table[0x3d] = EQUALS;
  table[separator] = SEPARATOR;
  return table;
}
