/** Sets of byte values and how PCRE's character classes are written as such sets. */

/** 256 entries, 1 for a byte in the set. */
export type ByteSet = Uint8Array;

/** An empty set, or one of the given inclusive ranges. */
export function byteSet(...ranges: readonly (readonly [number, number])[]): ByteSet {
  const set = new Uint8Array(256);
  for (const [first, last] of ranges) set.fill(1, first, last + 1);
  return set;
}

/** Adds every byte of `other` to `set`. */
export function addSet(set: ByteSet, other: ByteSet): void {
  for (let c = 0; c < 256; c++) if (other[c] === 1) set[c] = 1;
}

/** All bytes that are not in `set`. */
export function complementOf(set: ByteSet): ByteSet {
  return set.map((value) => 1 - value);
}

/** The set with the other case of its ASCII letters; bytes from 0x80 have no case. */
export function foldAscii(set: ByteSet): ByteSet {
  const folded = Uint8Array.from(set);
  for (let upper = 0x41; upper <= 0x5a; upper++) {
    const either = (set[upper] ?? 0) | (set[upper + 32] ?? 0);
    folded[upper] = either;
    folded[upper + 32] = either;
  }
  return folded;
}

const space = byteSet([0x09, 0x0d], [0x20, 0x20]);
const digit = byteSet([0x30, 0x39]);
const lower = byteSet([0x61, 0x7a]);
const upper = byteSet([0x41, 0x5a]);
const alpha = byteSet([0x61, 0x7a], [0x41, 0x5a]);
const alnum = byteSet([0x61, 0x7a], [0x41, 0x5a], [0x30, 0x39]);
const word = byteSet([0x61, 0x7a], [0x41, 0x5a], [0x30, 0x39], [0x5f, 0x5f]);
const horizontal = byteSet([0x09, 0x09], [0x20, 0x20], [0xa0, 0xa0]);
const vertical = byteSet([0x0a, 0x0d], [0x85, 0x85]);

/** What \d, \w, ... mean to PCRE2 in byte mode with the C locale. */
export const escapeSets: ReadonlyMap<string, ByteSet> = new Map([
  ['d', digit],
  ['D', complementOf(digit)],
  ['w', word],
  ['W', complementOf(word)],
  ['s', space],
  ['S', complementOf(space)],
  ['h', horizontal],
  ['H', complementOf(horizontal)],
  ['v', vertical],
  ['V', complementOf(vertical)],
]);

/** What [:alpha:], ... mean to PCRE2 in byte mode with the C locale. */
export const posixSets: ReadonlyMap<string, ByteSet> = new Map([
  ['alpha', alpha],
  ['lower', lower],
  ['upper', upper],
  ['alnum', alnum],
  ['ascii', byteSet([0x00, 0x7f])],
  ['blank', byteSet([0x09, 0x09], [0x20, 0x20])],
  ['cntrl', byteSet([0x00, 0x1f], [0x7f, 0x7f])],
  ['digit', digit],
  ['graph', byteSet([0x21, 0x7e])],
  ['print', byteSet([0x20, 0x7e])],
  ['punct', byteSet([0x21, 0x2f], [0x3a, 0x40], [0x5b, 0x60], [0x7b, 0x7e])],
  ['space', space],
  ['word', word],
  ['xdigit', byteSet([0x30, 0x39], [0x41, 0x46], [0x61, 0x66])],
]);

/** The set as inclusive ranges, ascending. */
export function rangesOf(set: ByteSet): [number, number][] {
  const ranges: [number, number][] = [];
  for (let c = 0; c < 256; c++) {
    if (set[c] !== 1) continue;
    const first = c;
    while (c < 255 && set[c + 1] === 1) c++;
    ranges.push([first, c]);
  }
  return ranges;
}
