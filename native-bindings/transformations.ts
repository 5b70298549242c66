/**
 * The SecLang transformations for single values (the exact path), with their small numbers.
 * The scan program runs the same functions in bulk. Never decides which rule uses which.
 */
import { addon } from './load-addon.ts';
import type { ByteString } from './load-addon.ts';

/**
 * The number of each transformation, by every name SecLang knows for it. The numbers are valid in
 * one build only: never write them to disk.
 * Source: ModSecurity v3 reference, Coraza (base64Encode, escapeSeqDecode, hexEncode).
 */
export const transformationIds = {
  none: 0,
  base64Decode: 1,
  base64DecodeExt: 2,
  base64Encode: 3,
  cmdLine: 4,
  compressWhitespace: 5,
  cssDecode: 6,
  escapeSeqDecode: 7,
  hexDecode: 8,
  hexEncode: 9,
  htmlEntityDecode: 10,
  jsDecode: 11,
  length: 12,
  lowercase: 13,
  md5: 14,
  normalizePath: 15,
  normalisePath: 15,
  normalizePathWin: 16,
  normalisePathWin: 16,
  parityEven7bit: 17,
  parityOdd7bit: 18,
  parityZero7bit: 19,
  phpArgsNames: 20,
  removeComments: 21,
  removeCommentsChar: 22,
  removeNulls: 23,
  removeWhitespace: 24,
  replaceComments: 25,
  replaceNulls: 26,
  sha1: 27,
  sqlHexDecode: 28,
  trim: 29,
  trimLeft: 30,
  trimRight: 31,
  uppercase: 32,
  urlDecode: 33,
  urlDecodeUni: 34,
  urlEncode: 35,
  utf8toUnicode: 36,
} as const;

/**
 * The number of what SecLang cannot name: leaves out `"'\\^)[`. Chains of a scan program that end
 * with it count only for values that it changes.
 */
export const fillersRemovedId = 37;

/** A transformation's name as SecLang spells it. */
export type TransformationName = keyof typeof transformationIds;

/** The names in the order of their numbers, one a transformation (the American spellings). */
export const transformationNames: readonly string[] = addon.transformationNames();

/**
 * For each number the class mask that a value must touch before the transformation can change it;
 * -1 when it can change any value, the empty one included.
 */
export const transformationTriggers: readonly number[] = addon.transformationTriggers();

/**
 * One transformation of one value.
 * Shape: byte string in and out; the same string when nothing changed.
 * Errors: TypeError for an unknown number. Cost: linear, about 0.2 us beside it.
 */
export function transformText(id: number, value: ByteString, unicodeMap?: Uint8Array): ByteString {
  return addon.transform(id, value, unicodeMap);
}

/** Several transformations in turn, otherwise as transformText. */
export function transformChainText(
  ids: Uint8Array,
  value: ByteString,
  unicodeMap?: Uint8Array,
): ByteString {
  return addon.transform(ids, value, unicodeMap);
}

/** As transformText over bytes; the same array when nothing changed, else a fresh one. */
export function transformBytes(id: number, bytes: Uint8Array, unicodeMap?: Uint8Array): Uint8Array {
  return addon.transform(id, bytes, unicodeMap);
}

/**
 * What urlDecodeUni of this thread maps code points through when the call gives no map: 65536
 * bytes, 0 for "not mapped" (SecUnicodeMapFile); null for none.
 */
export function setUnicodeMap(map: Uint8Array | null): void {
  addon.setUnicodeMap(map);
}
