/**
 * Remembers texts that were read before by their bytes: most values of events repeat, and to
 * compare costs less than to decode. Memory is bounded: a text that came later takes the place of
 * another one with the same slot. Never changes what a text is.
 */

import { textOfBytes } from './fact-reader.ts';

/** Longer texts seldom repeat. */
const knownBytesMax = 256;
const none: readonly string[] = [];

interface KnownText {
  readonly bytes: Uint8Array;
  readonly text: string;
  /** The text alone, as index values of an event; none where it is empty. */
  readonly list: readonly string[];
}

const empty: KnownText = { bytes: new Uint8Array(), text: '', list: none };

/** Texts of one field, or of several that are alike. */
export class KnownTexts {
  private readonly slots: (KnownText | undefined)[];

  /** `slotsMax` is a power of two. */
  constructor(slotsMax: number) {
    this.slots = Array.from({ length: slotsMax });
  }

  /** The text of bytes, as `textOfBytes` reads them. */
  text(bytes: Uint8Array, from: number, to: number): string {
    return this.find(bytes, from, to).text;
  }

  /** The same as the only value of a list; none for no bytes. The list is shared. */
  list(bytes: Uint8Array, from: number, to: number): readonly string[] {
    return this.find(bytes, from, to).list;
  }

  private find(bytes: Uint8Array, from: number, to: number): KnownText {
    const length = to - from;
    if (length === 0) return empty;
    if (length > knownBytesMax) return read(empty.bytes, textOfBytes(bytes, from, to));
    let hash = 0x811c9dc5;
    for (let at = from; at < to; at++) hash = Math.imul(hash ^ bytes[at]!, 0x01000193);
    const slot = (hash ^ (hash >>> 15)) & (this.slots.length - 1);
    const known = this.slots[slot];
    if (known !== undefined && isSame(known.bytes, bytes, from, to)) return known;
    return (this.slots[slot] = read(bytes.slice(from, to), textOfBytes(bytes, from, to)));
  }
}

function read(bytes: Uint8Array, text: string): KnownText {
  return { bytes, text, list: text === '' ? none : [text] };
}

function isSame(known: Uint8Array, bytes: Uint8Array, from: number, to: number): boolean {
  if (known.length !== to - from) return false;
  for (let at = 0; at < known.length; at++) if (known[at] !== bytes[from + at]) return false;
  return true;
}
