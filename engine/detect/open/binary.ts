/**
 * Finds the texts in binary data: stretches of printable ASCII and of sequences of UTF-8, also
 * overlong ones. Random bytes give few, so that data nobody reads as text is not opened as such.
 * Only for bodies that nothing reads as fields: in a field, control bytes would hide what is beside
 * them.
 */

import type { ByteString } from '../../../base/byte-string.ts';
import { SEEN, seenBits } from '../bytes-seen.ts';
import { isTextRun, runBytesMin } from '../../base/text-runs.ts';
import type { Leaf } from '../detector.ts';
import type { Leaves } from './leaves.ts';

/** Nothing tells shorter data from text with stray bytes. */
const binaryBytesMin = 256;
/** Binary data has more than one control byte in this number of bytes. */
const bytesPerControl = 50;

/** Whether a leaf is data rather than text. Cost: nothing where it has no control byte. */
export function isBinary({ text, seen }: Leaf): boolean {
  if ((seen & SEEN.control) === 0 || text.length < binaryBytesMin) return false;
  let controls = 0;
  for (let at = 0; at < text.length; at++) {
    if ((seenBits[text.charCodeAt(at) & 255]! & SEEN.control) !== 0) controls++;
  }
  return controls * bytesPerControl > text.length;
}

/** Adds the texts of binary data, each as it is and without NUL bytes in it. Cost: linear. */
export function openBinary(text: ByteString, leaves: Leaves): void {
  let start = 0;
  for (let at = 0; at < text.length;) {
    const first = text.charCodeAt(at);
    const bytes = first < 0x80 ? asciiBytes[first]! : sequenceBytes(text, at, first);
    if (bytes !== 0) {
      at += bytes;
      continue;
    }
    addStretch(text, start, at, leaves);
    start = ++at;
  }
  addStretch(text, start, text.length, leaves);
}

/** Readers of C strings end at a NUL byte, readers of UTF-16 have one beside each character. */
function addStretch(text: ByteString, start: number, end: number, leaves: Leaves): void {
  if (end - start < runBytesMin) return;
  const stretch = text.slice(start, end);
  if (!isTextRun(stretch.length, text.length, () => stretch)) return;
  if (!stretch.includes('\0')) {
    leaves.add('text', stretch);
    return;
  }
  for (const part of stretch.split('\0')) {
    if (isTextRun(part.length, text.length, () => part)) leaves.add('text', part);
  }
  leaves.add('without NUL', stretch.replace(/\0/g, ''));
}

/** 1 for characters of texts, vertical tabs and form feeds, which are blanks to SQL, and NUL. */
const asciiBytes = Uint8Array.from({ length: 128 }, (_, code) => {
  const passes = code === 0 || code === 11 || code === 12;
  return passes || (seenBits[code]! & SEEN.control) === 0 ? 1 : 0;
});

/** Bytes of a sequence of UTF-8; 0 for none. */
function sequenceBytes(text: ByteString, at: number, first: number): number {
  const bytes = first < 0xc0 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf8 ? 4 : 0;
  for (let next = 1; next < bytes; next++) {
    const code = text.charCodeAt(at + next);
    if (!(code >= 0x80 && code < 0xc0)) return 0;
  }
  return bytes;
}
