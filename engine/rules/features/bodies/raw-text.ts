/**
 * Makes rows of text that no parser takes, so that the rules on arguments see it: whole text in
 * windows that overlap, the readable runs of anything else. Never decides what is text to parse.
 */

import type { ByteString } from '../../../../base/byte-string.ts';
import { valueLimits } from '../../../../base/rule-limits.ts';
import { isTextRun } from '../../../base/text-runs.ts';
import { reachLimit } from '../../transaction/inspection-limits.ts';
import type { Transaction } from '../../transaction/transaction.ts';
import { type SourceId, SOURCE } from '../../transaction/values.ts';

/** 1 for bytes that text consists of: all but control bytes, with white space among text. */
const textByte: Uint8Array = Uint8Array.from({ length: 256 }, (_, byte) => {
  const space = byte === 0x09 || byte === 0x0a || byte === 0x0d || byte === 0x0c;
  return space || (byte >= 0x20 && byte !== 0x7f) ? 1 : 0;
});

/** 1 for the bytes of a run among binary data, where every second byte is above 127. */
const runByte: Uint8Array = Uint8Array.from(textByte, (text, byte) => (byte < 0x80 ? text : 0));

/** Text may hold one other byte in this number of bytes. */
const strayShare = 32;

/** What ModSecurity would call the name of such an argument; it has none. */
const noName = '';

/**
 * Adds [start, end) of the slab as arguments without a name: text in windows, of other bytes the
 * runs of text that are long enough. `isData`: of no known form, where short runs are chance in
 * much data. True when it is text. Cost: one pass, and a row for each window or run.
 */
export function addRawText(
  tx: Transaction,
  source: SourceId,
  start: number,
  end: number,
  isData = false,
): boolean {
  const { slab } = tx.values;
  if (isText(slab, start, end)) {
    addWindows(tx, source, start, end);
    return true;
  }
  let from = start;
  for (let at = start; at <= end; at++) {
    if (at < end && runByte[slab[at]!] === 1) continue;
    const read = (): ByteString => slab.latin1Slice(from, at);
    if (isTextRun(at - from, isData ? end - start : 0, read)) addWindows(tx, source, from, at);
    from = at + 1;
  }
  return false;
}

/** True where [start, end) has few bytes that text does not have. Cost: one pass. */
export function isText(slab: Buffer, start: number, end: number): boolean {
  let text = 0;
  for (let at = start; at < end; at++) text += textByte[slab[at]!]!;
  return (end - start - text) * strayShare <= end - start;
}

/** The end of the text that [start, end) begins with: no document holds the byte that follows. */
export function textEnd(slab: Buffer, start: number, end: number): number {
  let at = start;
  while (at < end && textByte[slab[at]!] === 1) at++;
  return at;
}

function addWindows(tx: Transaction, source: SourceId, start: number, end: number): void {
  const { rawWindowBytes, rawOverlapBytes, argumentRowsMax } = valueLimits;
  const { values } = tx;
  const key = values.appendText(noName);
  for (let from = start; from < end; from += rawWindowBytes - rawOverlapBytes) {
    if (values.rowsOf(SOURCE.argPost).length > 2 * argumentRowsMax) {
      reachLimit(tx, 'argument-rows');
      return;
    }
    const to = Math.min(end, from + rawWindowBytes);
    values.add(source, key, key, from, to);
    if (to === end) return;
  }
}
