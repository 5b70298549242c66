/**
 * Reads texts that stand inside of values: JSON in a string of JSON, of a form or of a message, as
 * SockJS and many APIs send it, and in gRPC also forms and base64. Only where something is encoded
 * there, which the value as it stands does not show. Only with `SecInspectUnparsed`.
 */

import { isUtf8 } from 'node:buffer';

import { valueLimits } from '../../../../base/rule-limits.ts';
import type { Transaction } from '../../transaction/transaction.ts';
import { SOURCE } from '../../transaction/values.ts';
import { hasArgumentRoom, readArguments } from './arguments.ts';
import { holdsEscape, readEmbeddedJson } from './embedded-json.ts';
import { readStomp } from './stomp.ts';
import { firstByte, quietly, readJson } from './unparsed.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const PERCENT = 0x25;
const AMPERSAND = 0x26;
const EQUALS = 0x3d;

/** Characters of both alphabets of base64, with what pads them. */
const base64Byte = Uint8Array.from({ length: 256 }, (_, byte) =>
  /[A-Za-z0-9+/_=-]/.test(String.fromCharCode(byte)) ? 1 : 0,
);

/**
 * Reads what ARGS_POST has from its row `first` on once more, and what comes of that too, a few
 * levels deep. Cost: a look at each row; for each level one pass over the texts that are read.
 */
export function readInnerTexts(tx: Transaction, first: number, isGrpc: boolean): void {
  const { values } = tx;
  // Whatever is encoded in texts has a backslash; most bodies have none.
  if (!isGrpc && !values.slab.subarray(tx.bodyStart, values.used).includes(BACKSLASH)) return;
  let from = first;
  for (let level = 0; level < valueLimits.innerTextLevels; level++) {
    const to = values.rowsOf(SOURCE.argPost).length;
    for (let at = from; at < to; at++) {
      const row = values.rowsOf(SOURCE.argPost)[at]!;
      const [start, end] = [values.start[row]!, values.end[row]!];
      if (end - start < valueLimits.innerTextBytesMin) continue;
      if (readStomp(tx, start, end, row)) continue;
      if (hasInnerJson(values.slab, start, end)) {
        if (hasArgumentRoom(tx)) quietly(tx, () => readJson(tx, start, end, false));
      } else {
        if (isGrpc) readOther(tx, start, end);
        readEmbeddedJson(tx, start, end, true);
      }
    }
    if (values.rowsOf(SOURCE.argPost).length === to) return;
    from = to;
  }
}

/** JSON without escapes is inspected as it stands. */
function hasInnerJson(slab: Buffer, start: number, end: number): boolean {
  const first = firstByte(slab, start, end);
  if (first === '"') return slab[end - 1] === QUOTE && holdsEscape(slab, start, end);
  return (first === '{' || first === '[') && holdsEscape(slab, start, end);
}

function readOther(tx: Transaction, start: number, end: number): void {
  const { slab } = tx.values;
  if (isBase64(slab, start, end)) return readBase64(tx, start, end);
  const pairs = has(slab, EQUALS, start, end);
  if (!pairs || !(has(slab, AMPERSAND, start, end) || has(slab, PERCENT, start, end))) return;
  quietly(tx, () => readArguments(tx, SOURCE.argPost, start, end, tx.settings.argumentSeparator));
}

function isBase64(slab: Buffer, start: number, end: number): boolean {
  if (end - start < valueLimits.base64BytesMin) return false;
  for (let at = start; at < end; at++) if (base64Byte[slab[at]!] === 0) return false;
  return true;
}

/** What is text once decoded; anything else is data, as most that looks like base64. */
function readBase64(tx: Transaction, start: number, end: number): void {
  const { values } = tx;
  const decoded = Buffer.from(values.slab.latin1Slice(start, end), 'base64');
  if (decoded.length === 0 || !isUtf8(decoded) || !hasArgumentRoom(tx)) return;
  const at = values.append(decoded);
  const key = values.appendText('');
  values.add(SOURCE.argPost, key, key, at, at + decoded.length);
}

function has(slab: Buffer, byte: number, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (slab[at] === byte) return true;
  return false;
}
