/**
 * Which special bytes a leaf holds, as one mask: what a family needs is compared with it, so that
 * most families cost one comparison. Never looks at order.
 */

import type { ByteString } from '../../base/byte-string.ts';

/** One bit for each special byte or class of bytes. */
export const SEEN = {
  less: 1 << 0,
  greater: 1 << 1,
  quote: 1 << 2,
  doubleQuote: 1 << 3,
  backtick: 1 << 4,
  dollar: 1 << 5,
  brace: 1 << 6,
  bracket: 1 << 7,
  paren: 1 << 8,
  equals: 1 << 9,
  semicolon: 1 << 10,
  pipe: 1 << 11,
  ampersand: 1 << 12,
  slash: 1 << 13,
  backslash: 1 << 14,
  colon: 1 << 15,
  percent: 1 << 16,
  hash: 1 << 17,
  at: 1 << 18,
  lineEnd: 1 << 19,
  /** Control bytes without line ends and tabs. */
  control: 1 << 20,
  high: 1 << 21,
  star: 1 << 22,
  bang: 1 << 23,
  blank: 1 << 24,
  comma: 1 << 25,
  plus: 1 << 26,
  /** `?`, `^`, `~`, `)`, `]`, `}`: nothing needs them. */
  other: 1 << 27,
  digit: 1 << 28,
  dash: 1 << 29,
} as const;

/** The bit of each byte. */
export const seenBits = new Int32Array(256);
mark('<', SEEN.less);
mark('>', SEEN.greater);
mark("'", SEEN.quote);
mark('"', SEEN.doubleQuote);
mark('`', SEEN.backtick);
mark('$', SEEN.dollar);
mark('{', SEEN.brace);
mark('[', SEEN.bracket);
mark('(', SEEN.paren);
mark('=', SEEN.equals);
mark(';', SEEN.semicolon);
mark('|', SEEN.pipe);
mark('&', SEEN.ampersand);
mark('/', SEEN.slash);
mark('\\', SEEN.backslash);
mark(':', SEEN.colon);
mark('%', SEEN.percent);
mark('#', SEEN.hash);
mark('@', SEEN.at);
mark('*', SEEN.star);
mark('!', SEEN.bang);
mark(' \t', SEEN.blank);
mark(',', SEEN.comma);
mark('+', SEEN.plus);
mark('?^~)]}', SEEN.other);
mark('0123456789', SEEN.digit);
mark('-', SEEN.dash);
for (let byte = 0; byte < 32; byte++) seenBits[byte]! |= SEEN.control;
seenBits[0x7f] = SEEN.control;
seenBits[9] = SEEN.blank;
seenBits[10] = SEEN.lineEnd;
seenBits[13] = SEEN.lineEnd;
for (let byte = 128; byte < 256; byte++) seenBits[byte] = SEEN.high;

function mark(chars: string, bit: number): void {
  for (const char of chars) seenBits[char.charCodeAt(0)] = bit;
}

/** Bits of values that are done at once: letters, digits, `_`, `-` and `.`. */
const plainBits = SEEN.digit | SEEN.dash;

/** Whether a value with these bits holds letters, digits, `_`, `-` and `.` only. */
export function isPlain(seen: number): boolean {
  return (seen & ~plainBits) === 0;
}

/** Whether bytes are letters, digits, `_`, `-` and `.` only. Cost: a look at each of those. */
export function isPlainBytes(bytes: Uint8Array, start = 0, end = bytes.length): boolean {
  for (let at = start; at < end; at++) if (!isPlain(seenBits[bytes[at]!]!)) return false;
  return true;
}

/** Bytes of the last label of a host, with its dot. */
const lastLabelMax = 11;
const hostBytesMin = 8;

/** Whether plain bytes may name a host: they end in a dot and letters. Cost: a look at the end. */
export function endsAsHost(bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start < hostBytesMin) return false;
  for (let at = end - 1; at > end - lastLabelMax; at--) {
    if (bytes[at] === 0x2e) return at < end - 2;
    if (bytes[at]! < 0x41) return false;
  }
  return false;
}

/** As `endsAsHost`, of a text. */
export function endsTextAsHost(text: ByteString): boolean {
  if (text.length < hostBytesMin) return false;
  for (let at = text.length - 1; at > text.length - lastLabelMax; at--) {
    const code = text.charCodeAt(at);
    if (code === 0x2e) return at < text.length - 2;
    if (code < 0x41) return false;
  }
  return false;
}

/** Whether a text holds letters, digits, `_`, `-` and `.` only. Cost: a look at each byte. */
export function isPlainText(text: ByteString): boolean {
  for (let at = 0; at < text.length; at++) {
    if (!isPlain(seenBits[text.charCodeAt(at) & 255]!)) return false;
  }
  return true;
}
