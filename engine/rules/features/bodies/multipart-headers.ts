/** Looks things up in the header lines of a multipart part. Judges nothing. */

import { trimBlankEnds } from '../../../../base/byte-string.ts';
import type { ByteString } from '../../../../base/byte-string.ts';
import { isSpace, nameIs } from '../../transaction/ascii.ts';

/** Start and end of each header line in the slab, without its line end. */
export type PartLines = readonly (readonly [start: number, end: number])[];

const COLON = 0x3a;

/** Value of a part's first header of that lower-case name; null when there is none. */
export function headerOf(slab: Buffer, lines: PartLines, name: string): ByteString | null {
  for (const [start, end] of lines) {
    const colon = findByte(slab, COLON, start, end);
    if (colon === end || !nameIs(slab, start, colon, name)) continue;
    return trimBlankEnds(slab.latin1Slice(colon + 1, end));
  }
  return null;
}

/** The lower-case name of a header line. */
export function nameOf(slab: Buffer, [start, end]: PartLines[number]): string {
  return slab
    .latin1Slice(start, findByte(slab, COLON, start, end))
    .trim()
    .toLowerCase();
}

/** Offset of the first control character other than the tab in [start, end), or `end`. */
export function findControl(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end && ((bytes[at]! >= 0x20 && bytes[at] !== 0x7f) || bytes[at] === 0x09)) at++;
  return at;
}

/** Offset of the first byte in [start, end) that is no white space, or `end`. */
export function skipSpaces(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end && isSpace(bytes[at]!)) at++;
  return at;
}

/** Offset of the first such byte in [start, end), or `end`. */
export function findByte(bytes: Uint8Array, byte: number, start: number, end: number): number {
  let at = start;
  while (at < end && bytes[at] !== byte) at++;
  return at;
}
