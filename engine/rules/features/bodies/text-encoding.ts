/** Detects how text is encoded, and writes UTF-16 and UTF-32 as UTF-8 into the slab. */

import type { ValueTable } from '../../transaction/values.ts';
import { writeUtf8 } from '../../../../base/utf8.ts';

/** A Unicode encoding of more than one byte a character. */
export interface WideEncoding {
  readonly width: 2 | 4;
  readonly littleEndian: boolean;
  /** Bytes of the byte order mark in front. */
  readonly markBytes: number;
}

/**
 * The encoding of [start, end) where it is UTF-16 or UTF-32, by its byte order mark or by the NULs
 * of its first two characters; null for all else. Source: RFC 4627 section 3, as Python's json
 * reads bytes.
 */
export function wideEncodingOf(bytes: Uint8Array, start: number, end: number): WideEncoding | null {
  if (end - start < 4) return null;
  const [a, b, c, d] = bytes.subarray(start, start + 4) as unknown as [
    number,
    number,
    number,
    number,
  ];
  const wide = (width: 2 | 4, littleEndian: boolean, markBytes: number): WideEncoding => {
    return { width, littleEndian, markBytes };
  };
  if (a === 0xff && b === 0xfe) return c === 0 && d === 0 ? wide(4, true, 4) : wide(2, true, 2);
  if (a === 0xfe && b === 0xff) return wide(2, false, 2);
  if (a === 0 && b === 0 && c === 0xfe && d === 0xff) return wide(4, false, 4);
  if (a === 0 && b === 0 && c === 0 && d !== 0) return wide(4, false, 0);
  if (a !== 0 && b === 0 && c === 0 && d === 0) return wide(4, true, 0);
  if (a === 0 && b !== 0 && c === 0 && d !== 0) return wide(2, false, 0);
  if (a !== 0 && b === 0 && c !== 0 && d === 0) return wide(2, true, 0);
  return null;
}

/**
 * Writes [start, end) as UTF-8 after the used part of the slab; returns where it starts. Lone
 * surrogates become U+FFFD. Cost: one pass; room for twice the bytes.
 */
export function appendAsUtf8(
  values: ValueTable,
  start: number,
  end: number,
  encoding: WideEncoding,
): number {
  values.reserve(2 * (end - start));
  const { slab } = values;
  const { width, littleEndian } = encoding;
  const first = values.used;
  let out = first;
  const unit = (at: number): number => {
    if (width === 2) return littleEndian ? slab.readUInt16LE(at) : slab.readUInt16BE(at);
    return littleEndian ? slab.readUInt32LE(at) : slab.readUInt32BE(at);
  };
  for (let at = start + encoding.markBytes; at + width <= end; at += width) {
    let code = unit(at);
    if (code >= 0xd800 && code < 0xdc00 && width === 2 && at + 2 * width <= end) {
      const low = unit(at + width);
      if (low >= 0xdc00 && low < 0xe000) {
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        at += width;
      }
    }
    if ((code >= 0xd800 && code < 0xe000) || code > 0x10ffff) code = 0xfffd;
    out = writeUtf8(slab, out, code);
  }
  values.used = out;
  return first;
}
