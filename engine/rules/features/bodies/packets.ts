/**
 * Takes the framing of Engine.IO and Socket.IO off the texts in it, of messages and of polling
 * bodies: `42["event",{...}]`, `42/chat,7["event"]`, `451-["event",{...}]`, several of them one
 * after the other, with their lengths (version 3) or separators (version 4). What a server reads as
 * JSON then is read as such, with its escapes; SockJS has JSON only. Over-accepts: the text as it
 * stands is inspected, too.
 * Source: Engine.IO Protocol 3 and 4; Socket.IO Protocol 5.
 */

import { isUtf8 } from 'node:buffer';

import { valueLimits } from '../../../../base/rule-limits.ts';
import { reachLimit } from '../../transaction/inspection-limits.ts';
import type { Transaction } from '../../transaction/transaction.ts';
import { SOURCE } from '../../transaction/values.ts';
import { addRawText } from './raw-text.ts';
import { readJson } from './unparsed.ts';

const SEPARATOR = 0x1e;
const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const SLASH = 0x2f;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const LOWER_A = 0x61;
const LOWER_B = 0x62;
const OPEN_OBJECT = 0x7b;
const lengthDigitsMax = 10;

/**
 * Reads the packets in [start, end) of the slab; true where they hold JSON. Cost: one pass, and one
 * of each JSON text.
 */
export function readPackets(tx: Transaction, start: number, end: number, cut: boolean): boolean {
  if (!beginsPacket(tx.values.slab[start]!)) return false;
  let packets = 0;
  let found = false;
  for (let at = start; at < end; at++) {
    if (packets++ === valueLimits.packetsMax) {
      reachLimit(tx, 'packets');
      break;
    }
    const [from, length] = lengthPrefix(tx.values.slab, at, end);
    const to = endOfPacket(tx.values.slab, at, from, end, length);
    if (readPacket(tx, from, to, cut && to === end)) found = true;
    // A packet with a length is followed by the next one, others by a separator.
    at = length < 0 ? to : Math.max(at, to - 1);
  }
  return found;
}

/** A type or a length, a list of SockJS, base64, or a packet of version 3 among binary ones. */
function beginsPacket(byte: number): boolean {
  return (byte >= 0x30 && byte <= 0x39) || byte === LOWER_A || byte === LOWER_B || byte <= 1;
}

function readPacket(tx: Transaction, start: number, end: number, cut: boolean): boolean {
  const { slab } = tx.values;
  if (slab[start] === LOWER_B) {
    readBinary(tx, start + 1, end);
    return false;
  }
  const content = contentStart(slab, start, end);
  if (content >= 0) readJson(tx, content, end, cut);
  return content >= 0;
}

/** Where the JSON of a packet begins: after types, attachments, name space and id; -1 for none. */
function contentStart(slab: Buffer, start: number, end: number): number {
  let at = skipDigits(slab, start, end);
  // SockJS frames a list of messages so.
  if (at === start && slab[at] === LOWER_A) at++;
  else if (at === start) return -1;
  if (slab[at] === MINUS) at++;
  if (slab[at] === SLASH) {
    const comma = slab.subarray(at, end).indexOf(COMMA);
    if (comma < 0) return -1;
    at = skipDigits(slab, at + comma + 1, end);
  } else at = skipDigits(slab, at, end);
  if (at >= end) return -1;
  const first = slab[at];
  return first === OPEN_LIST || first === OPEN_OBJECT || first === QUOTE ? at : -1;
}

/** A binary packet in base64, with the type of version 3. */
function readBinary(tx: Transaction, start: number, end: number): void {
  const { values } = tx;
  const from = start + (values.slab[start] === 0x34 && (end - start) % 4 === 1 ? 1 : 0);
  const decoded = Buffer.from(values.slab.latin1Slice(from, end), 'base64');
  if (decoded.length === 0) return;
  const at = values.append(decoded);
  const first = decoded[0];
  const isJson = first === OPEN_LIST || first === OPEN_OBJECT || first === QUOTE;
  if (isJson && isUtf8(decoded)) readJson(tx, at, values.used, false);
  else addRawText(tx, SOURCE.argPost, at, values.used);
}

/**
 * Reads `12:`, or its digits as bytes between 0 or 1 and 255; gives where the packet begins and its
 * length in UTF-16 units, -1 without one.
 */
function lengthPrefix(slab: Buffer, start: number, end: number): [from: number, length: number] {
  const last = Math.min(end, start + lengthDigitsMax);
  if (slab[start]! <= 1) return binaryPrefix(slab, start, last);
  const at = skipDigits(slab, start, last);
  if (at === start || at >= end || slab[at] !== COLON) return [start, -1];
  return [at + 1, Number(slab.latin1Slice(start, at))];
}

function binaryPrefix(slab: Buffer, start: number, end: number): [from: number, length: number] {
  let length = 0;
  let at = start + 1;
  for (; at < end && slab[at]! <= 9; at++) length = 10 * length + slab[at]!;
  return at < end && slab[at] === 0xff ? [at + 1, length] : [start, -1];
}

/** Where the packet ends that begins at `from`, and whose prefix begins at `at`. */
function endOfPacket(slab: Buffer, at: number, from: number, end: number, length: number): number {
  if (length >= 0) {
    return slab[at]! <= 1 ? Math.min(end, from + length) : afterUnits(slab, from, end, length);
  }
  const found = slab.subarray(from, end).indexOf(SEPARATOR);
  return found < 0 ? end : from + found;
}

/** Where a text of `units` UTF-16 units ends. */
function afterUnits(slab: Buffer, start: number, end: number, units: number): number {
  let left = units;
  let at = start;
  while (at < end && left > 0) {
    const byte = slab[at]!;
    left -= byte < 0xf0 ? 1 : 2;
    at += byte < 0xc0 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
  }
  return Math.min(at, end);
}

function skipDigits(slab: Buffer, start: number, end: number): number {
  let at = start;
  while (at < end && slab[at]! >= 0x30 && slab[at]! <= 0x39) at++;
  return at;
}
