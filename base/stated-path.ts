/**
 * Paths and prefixes that an operator states, compared with the readings of a request: each reader
 * has both alike, so that `/caf%C3%A9` is the path that was stated as `/café`. Pure.
 */

import { encodeUtf8, withUtf8, type ByteString } from './byte-string.ts';
import {
  decode,
  READER,
  readPath,
  type Decoding,
  type PathReading,
  type PathReadings,
} from './path-readings.ts';

/** As paths are compared: without case, also beyond ASCII where the bytes are UTF-8. */
export function foldPath(path: ByteString): ByteString {
  if (!/[\x80-\xff]/.test(path)) return path.toLowerCase();
  return withUtf8(path, (text) => text.toLowerCase());
}

/**
 * A path or prefix as it is stated, folded and without slashes at its end; '' for every path. Only
 * what no client can send otherwise is decoded: readers differ in all other escapes.
 */
export function readStatedPath(path: string): ByteString {
  return foldPath(withoutForcedEscapes(encodeUtf8(path))).replace(/\/+$/, '');
}

/** A reading as it is compared with what is stated. */
export function comparedText({ text, decoding }: PathReading): ByteString {
  return foldPath(decoding === 'none' ? withoutForcedEscapes(text) : text);
}

/**
 * Spellings of a text that is looked for in every reading of a path, folded. `whole`: a path or its
 * beginning, in which every escape is one; elsewhere `%2f` may be meant as it is written.
 */
export function spellingsOf(text: string, whole: boolean): ByteString[] {
  const bytes = encodeUtf8(text);
  const decoded = whole ? decode(bytes, false) : withoutForcedEscapes(bytes);
  // What would be found in every path.
  const known = /^\/*$/.test(decoded) ? [bytes] : [bytes, decoded];
  const both = known.flatMap((one) => [one, withUtf8(one, (valid) => valid.normalize('NFC'))]);
  return [...new Set(both.map(foldPath))];
}

/** What is stated, see `readStatedPath`, as a reader has it that decodes so. */
export function statedFor(prefix: ByteString, decoding: Decoding): ByteString {
  if (decoding === 'none' || !prefix.includes('%')) return prefix;
  return foldPath(decode(prefix, decoding === 'part'));
}

/** What is stated as guards that refuse or count compare it with every reading. */
export function statedForAny(prefix: ByteString): ByteString {
  if (!/[%\x80-\xff]/.test(prefix)) return prefix;
  return withUtf8(statedFor(prefix, 'all'), (text) => text.normalize('NFC'));
}

/** True where a folded path is a folded prefix, without the slash at its end, or lies under it. */
export function liesUnder(path: ByteString, prefix: ByteString): boolean {
  if (!path.startsWith(prefix)) return false;
  return path.length === prefix.length || path.charCodeAt(prefix.length) === 0x2f;
}

/**
 * Whether a path lies under a prefix of whole segments, `loosely` by any reading, else by all usual
 * ones: see `RequestView.isUnder`, which does the same with what it keeps.
 */
export function liesUnderStated(path: ByteString, prefix: ByteString, loosely: boolean): boolean {
  const { list, complete }: PathReadings = readPath(path);
  if (!complete) return loosely;
  const any = statedForAny(prefix);
  if (loosely) return list.some((one) => liesUnder(comparedText(one), any));
  return list
    .filter(({ reader }) => reader === READER.USUAL)
    .every((one) => liesUnder(comparedText(one), statedFor(prefix, one.decoding)));
}

/**
 * Escapes of bytes that stand in no path otherwise (RFC 3986 section 3.3, WHATWG URL): readers that
 * decode nothing have them, too. `%25` stays, as it begins what looks like an escape.
 */
export function withoutForcedEscapes(text: ByteString): ByteString {
  return text.replace(/%([89a-f][0-9a-f]|2[02]|3[ce]|5e|60|7[bcd])/gi, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
}
