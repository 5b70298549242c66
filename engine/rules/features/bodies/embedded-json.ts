/**
 * Finds JSON with escapes that stands after something else, as protocols of messages frame it: a
 * STOMP frame, an MQTT packet, a MessagePack string, a command line. A server reads it as JSON, so
 * its escapes hide nothing. Over-accepts: the text as it stands is inspected, too.
 * Source: STOMP 1.2; MQTT 5.0, PUBLISH; SignalR Hub Protocol.
 */

import { valueLimits } from '../../../../base/rule-limits.ts';
import type { Transaction } from '../../transaction/transaction.ts';
import { hasArgumentRoom } from './arguments.ts';
import { textEnd } from './raw-text.ts';
import { quietly, readJson } from './unparsed.ts';

const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const QUOTE = 0x22;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const OPEN_OBJECT = 0x7b;

/**
 * Reads what looks like JSON in [start, end) of the slab, each up to the next control byte;
 * `framed`: only at the beginning of a line and after digits. Cost: one pass to find it, and one of
 * what is read.
 */
export function readEmbeddedJson(
  tx: Transaction,
  start: number,
  end: number,
  framed = false,
): void {
  if (!holdsEscape(tx.values.slab, start, end)) return;
  for (let at = start; at < end; at++) {
    const { slab } = tx.values;
    if (!beginsJson(slab, at, start, end) || (framed && !isFramed(slab, at, start))) continue;
    const stop = textEnd(slab, at, end);
    const read = stop - at >= valueLimits.innerTextBytesMin && holdsEscape(slab, at, stop);
    const from = at;
    if (read && hasArgumentRoom(tx)) quietly(tx, () => readJson(tx, from, stop, false));
    at = stop;
  }
}

function beginsJson(slab: Buffer, at: number, start: number, end: number): boolean {
  const first = slab[at]!;
  if (first === QUOTE) return followsEmptyLine(slab, at, start);
  if (first !== OPEN_LIST && first !== OPEN_OBJECT) return false;
  let next = at + 1;
  while (next < end && isBlank(slab[next]!)) next++;
  if (next >= end) return false;
  const byte = slab[next]!;
  if (byte === QUOTE) return true;
  return first === OPEN_LIST && (byte === OPEN_LIST || byte === OPEN_OBJECT);
}

function isBlank(byte: number): boolean {
  return byte === SPACE || byte === 0x09 || byte === LF || byte === CR;
}

/** Whether a body of lines begins here. */
function followsEmptyLine(slab: Buffer, at: number, start: number): boolean {
  if (at - 2 < start || slab[at - 1] !== LF) return false;
  return slab[at - 2] === LF || (slab[at - 2] === CR && at - 3 >= start && slab[at - 3] === LF);
}

function isFramed(slab: Buffer, at: number, start: number): boolean {
  if (at === start) return true;
  const before = slab[at - 1]!;
  return before === LF || (before >= 0x30 && before <= 0x39);
}

/** True where a backslash stands in [start, end). */
export function holdsEscape(slab: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (slab[at] === BACKSLASH) return true;
  return false;
}
