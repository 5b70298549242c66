/** Which runs of text among binary data are more than chance. Pure. */

import type { ByteString } from '../../base/byte-string.ts';

/** 30 MB of random bytes have 65 runs of 16 bytes, one in ten has one of 24. */
const chanceBytesMax = 24;
/** One in thirty times as many random bytes has a run of 16. */
const littleDataBytes = 16_384;
/** Shorter runs are no text, whatever they hold. */
export const runBytesMin = 16;
/** Beginnings of programs in pages and templates. */
const beginsProgram = /<\?(?:php|=)|<%[@=!]|<\/?[a-z]{3}|[$%#]\{[a-z]{3}/i;

/**
 * Whether a run of `length` bytes among `dataBytes` of data is text; `read` gives it where the
 * numbers do not say.
 */
export function isTextRun(length: number, dataBytes: number, read: () => ByteString): boolean {
  if (length < runBytesMin) return false;
  if (length >= chanceBytesMax || dataBytes <= littleDataBytes) return true;
  return beginsProgram.test(read());
}
