/**
 * The cursor over an XML document in the slab: names, white space, references, searches. Knows no
 * markup; xml-reader.ts does.
 */

import { writeUtf8 } from './utf8.ts';
import { isNameByte, isXmlSpace, readReference } from './xml-bytes.ts';

const TAB = 0x09;
const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const AMPERSAND = 0x26;

/** A cut within this many bytes of the end may have split a reference. */
const referenceBytesMax = 14;

/** Where reading is in one document. All offsets are into the slab. */
export abstract class XmlCursor {
  protected slab: Uint8Array = new Uint8Array(0);
  protected start = 0;
  protected at = 0;
  protected end = 0;
  protected truncated = false;
  /** Where the next decoded attribute value is written. */
  protected spare = 0;
  /** Where `reference` ended writing. */
  protected written = 0;

  /** Records that the document is not well-formed. */
  protected abstract fault(): void;

  /** Writes what the reference at `at` stands for to `out`; returns the offset after it. */
  protected reference(at: number, out: number): number {
    const { slab, end } = this;
    const found = readReference(slab, at, end);
    if (found >= 0) {
      this.written = writeUtf8(slab, out, found >> 4);
      return at + (found & 15);
    }
    if (!this.truncated || end - at > referenceBytesMax) this.fault();
    slab[out] = AMPERSAND;
    this.written = out + 1;
    return at + 1;
  }

  /** XML 1.0 section 3.3.3: white space becomes blanks, references what they stand for. */
  protected decodeValue(start: number, end: number): number {
    const { slab } = this;
    let out = this.spare;
    for (let at = start; at < end;) {
      const byte = slab[at]!;
      if (byte === AMPERSAND) {
        at = this.reference(at, out);
        out = this.written;
        continue;
      }
      const space = byte === TAB || byte === LF || byte === CR;
      slab[out++] = space ? SPACE : byte;
      at += byte === CR && at + 1 < end && slab[at + 1] === LF ? 2 : 1;
    }
    this.spare = out;
    return out;
  }

  protected skipName(start: number): number {
    const { slab, end } = this;
    let at = start;
    while (at < end && isNameByte(slab[at]!)) at++;
    return at;
  }

  protected skipSpace(): boolean {
    const { slab, end } = this;
    const from = this.at;
    let at = from;
    while (at < end && isXmlSpace(slab[at]!)) at++;
    this.at = at;
    return at > from;
  }

  protected startsWith(at: number, text: string): boolean {
    if (at + text.length > this.end) return false;
    for (let i = 0; i < text.length; i++) {
      if (this.slab[at + i] !== text.charCodeAt(i)) return false;
    }
    return true;
  }

  /** Offset of the next `text` inside the document; -1 when there is none. */
  protected find(text: string, from: number): number {
    const { slab, end } = this;
    const first = text.charCodeAt(0);
    for (let at = from; at + text.length <= end; at++) {
      if (slab[at] === first && this.startsWith(at, text)) return at;
    }
    return -1;
  }

  protected sameBytes(a: number, aEnd: number, b: number, bEnd: number): boolean {
    if (aEnd - a !== bEnd - b) return false;
    for (let i = 0; i < aEnd - a; i++) if (this.slab[a + i] !== this.slab[b + i]) return false;
    return true;
  }

  /** The document ends inside markup: an error unless the rest was cut off. */
  protected cut(): void {
    if (!this.truncated) this.fault();
  }
}
