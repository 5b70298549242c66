/** The format of the unicode map: code pages, each a line of `code point:byte` pairs. */

import type { ByteString } from '../../../base/byte-string.ts';

/**
 * One code page of a map file: 65536 entries, code point to byte, 0 where there is none.
 * Shape: a fresh array; null when the file does not hold the code page.
 * Source: unicode.mapping as ModSecurity ships it.
 */
export function readUnicodeMap(text: ByteString, codePage: number): Uint8Array | null {
  let found = false;
  const map = new Uint8Array(65_536);
  for (const line of text.split('\n')) {
    const words = line.split(/\s+/).filter((word) => word !== '');
    const [first = ''] = words;
    // A heading is a number; its pairs follow on the same line or on the next ones.
    if (/^\d+$/.test(first)) {
      if (found) break;
      found = Number(first) === codePage;
    }
    if (found) addPairs(map, words);
  }
  return found ? map : null;
}

function addPairs(map: Uint8Array, words: readonly string[]): void {
  for (const word of words) {
    const pair = /^([0-9a-f]{1,4}):([0-9a-f]{1,2})$/i.exec(word);
    if (pair !== null) map[parseInt(pair[1] ?? '', 16)] = parseInt(pair[2] ?? '', 16);
  }
}
