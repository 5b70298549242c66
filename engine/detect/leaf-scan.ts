/**
 * One look at each byte of a leaf, which says what may be opened and who may find something in it:
 * most leaves cost this look and nothing else. Never decides that something was found.
 */

import type { ByteString } from '../../base/byte-string.ts';
import { seenBits } from './bytes-seen.ts';
import { families } from './list.ts';
import { beforeBlank, literalAutomaton, type LiteralList } from './literals.ts';

/** Bits of what openers look for. */
export const OPENS = {
  /** Hexadecimal numbers of dots and slashes. */
  hexPath: 1 << 0,
  /** The head of a JSON Web Token. */
  token: 1 << 1,
  /** The scheme of RFC 7617. */
  credentials: 1 << 2,
  /** Escapes of bytes and characters. */
  escapes: 1 << 3,
} as const;

/** The word of `OPENS`, after those of the families. */
const openWord = families.length;

const openLists: readonly (readonly [number, readonly ByteString[]])[] = [
  [OPENS.hexPath, ['0x2', '0x5']],
  [OPENS.token, ['eyj']],
  [OPENS.credentials, beforeBlank('basic')],
  [OPENS.escapes, ['\\x', '\\u', '\\n', '\\r', '\\t']],
];

const lists: readonly LiteralList[] = [
  ...families.flatMap(({ literals }, word) => {
    return literals.map((list, bit) => ({ word, bit, literals: list }));
  }),
  ...openLists.map(([mask, literals]) => {
    return { word: openWord, bit: Math.log2(mask), literals };
  }),
];

const { column, next, shift, firstFinal, ends } = literalAutomaton(lists);

/** -1 for bytes of base64 and base64url, else 0. */
const runMask = new Int32Array(256);
for (const char of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_-') {
  runMask[char.charCodeAt(0)] = -1;
}

/** What the last scan saw; the next one overwrites it. */
export const scanned = {
  /** Bits of `SEEN`. */
  seen: 0,
  /** Bytes of the longest stretch that may be base64. */
  runBytes: 0,
  /** For each family a bit for each of its searches that may find something; then `OPENS`. */
  found: Array.from({ length: families.length + 1 }, () => 0),
  /** Whether a bit of `found` is set. */
  any: false,
};

const nothingFound: readonly number[] = scanned.found.slice();

/** The bits that were found, to keep. */
export function keepFound(): readonly number[] {
  return scanned.any ? scanned.found.slice() : nothingFound;
}

/** Bits of `OPENS` among those found. */
export function opensOf(found: readonly number[]): number {
  return found[openWord]!;
}

/** Scans the bytes from `start` to `end` into `scanned`. Cost: a few steps a byte. */
export function scanBytes(bytes: Uint8Array, start = 0, end = bytes.length): void {
  // Locals are read faster than what a module holds.
  const steps = next;
  const columns = column;
  const bits = seenBits;
  const runs = runMask;
  const final = firstFinal;
  const width = shift;
  let seen = 0;
  let run = 0;
  let longest = 0;
  let state = 0;
  begin();
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!;
    seen |= bits[byte]!;
    run = (run + 1) & runs[byte]!;
    if (run > longest) longest = run;
    state = steps[(state << width) | columns[byte]!]!;
    if (state >= final) collect(state);
  }
  scanned.seen = seen;
  scanned.runBytes = longest;
}

/** Longer texts are copied into a buffer of their own. */
const scratch = Buffer.allocUnsafeSlow(65_536);

/** As `scanBytes`, of a byte string. */
export function scanText(text: ByteString): void {
  const buffer = text.length <= scratch.length ? scratch : Buffer.allocUnsafe(text.length);
  scanBytes(buffer, 0, buffer.latin1Write(text));
}

function begin(): void {
  if (scanned.any) scanned.found.fill(0);
  scanned.any = false;
}

function collect(state: number): void {
  const { found } = scanned;
  const list = ends[state - firstFinal]!;
  for (let at = 0; at < list.length; at++) found[list[at]! >> 5]! |= 1 << (list[at]! & 31);
  scanned.any = true;
}
