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

/** What JSON and XML begin with: the next character may be any, and tell nothing. */
const documentStarts: ReadonlySet<number> = new Set(Buffer.from('<{["'));

/**
 * The encoding of [start, end) where it is UTF-16 or UTF-32, by its byte order mark, by the NULs of
 * its first two characters, or by that of the character that begins a document; null for all else.
 * Source: RFC 4627 section 3, as Python's json reads bytes; XML 1.0, appendix F, as expat reads it.
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
  if (a === 0 && documentStarts.has(b)) return wide(2, false, 0);
  return b === 0 && documentStarts.has(a) ? wide(2, true, 0) : null;
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
  const first = values.used;
  const { slab } = values;
  values.used = writeAsUtf8(slab.subarray(start, end), encoding, slab, first);
  return first;
}

/** A text of that encoding in UTF-8, as `appendAsUtf8` writes it. */
export function decodeWide(bytes: Buffer, encoding: WideEncoding): Buffer {
  const text = Buffer.allocUnsafe(2 * bytes.length);
  return text.subarray(0, writeAsUtf8(bytes, encoding, text, 0));
}

/** Writes all of `bytes` at `at` of `target`; returns where it ends. */
function writeAsUtf8(bytes: Buffer, encoding: WideEncoding, target: Buffer, at: number): number {
  const { width, littleEndian, markBytes } = encoding;
  const unit = (from: number): number => {
    if (width === 2) return littleEndian ? bytes.readUInt16LE(from) : bytes.readUInt16BE(from);
    return littleEndian ? bytes.readUInt32LE(from) : bytes.readUInt32BE(from);
  };
  let out = at;
  for (let from = markBytes; from + width <= bytes.length; from += width) {
    let code = unit(from);
    if (code >= 0xd800 && code < 0xdc00 && width === 2 && from + 2 * width <= bytes.length) {
      const low = unit(from + width);
      if (low >= 0xdc00 && low < 0xe000) {
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        from += width;
      }
    }
    if ((code >= 0xd800 && code < 0xe000) || code > 0x10ffff) code = 0xfffd;
    out = writeUtf8(target, out, code);
  }
  return out;
}
