/**
 * The one reader of XML: walks over a document in an ASCII-compatible encoding and tells what it
 * meets. Builds nothing and decides nothing: who extends it keeps what it needs, and says what an
 * error and a limit lead to. Source: XML 1.0, fifth edition.
 */

import { toByteString } from './byte-string.ts';
import { isNameStart, isXmlSpace } from './xml-bytes.ts';
import { XmlCursor } from './xml-cursor.ts';

const TAB = 0x09;
const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const BANG = 0x21;
const QUOTE = 0x22;
const AMPERSAND = 0x26;
const APOSTROPHE = 0x27;
const SLASH = 0x2f;
const LESS = 0x3c;
const EQUALS = 0x3d;
const GREATER = 0x3e;
const QUESTION = 0x3f;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/** 1 for bytes of text that need a look; 2 for those that only attribute values mind. */
const textClass: Uint8Array = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte === TAB || byte === LF) return 2;
  return byte < SPACE || byte === AMPERSAND || byte === LESS || byte === CLOSE_BRACKET ? 1 : 0;
});

/**
 * Comparisons for end tags that do not match the innermost element: 16 for each level that libxml2
 * allows. 12,000 such tags of a document of 64 KB would cost three million.
 */
export const strayStepsMax = 4_096;

/** What a reader may take of one document. */
export interface XmlBounds {
  readonly elementsMax: number;
  readonly depthMax: number;
  readonly attributesMax: number;
}

/** A bound, by what it counts. */
export type XmlBound = 'elements' | 'depth' | 'attributes';

/** Reads one document at a time; reused, so that reading allocates little. Not re-entrant. */
export abstract class XmlSyntax extends XmlCursor {
  /** Set by who extends: nothing more is read. */
  protected stopped = false;
  protected seenRoot = false;
  protected elements = 0;
  protected attributes = 0;
  protected depth = 0;
  /** Open elements that were compared with the names of end tags that do not match. */
  protected straySteps = 0;
  // The text of the root grows from textStart; decoded attribute values begin after its room.
  protected textStart = 0;
  protected textEnd = 0;
  private readonly bounds: XmlBounds;
  /** Where the names of open elements stand: start and end by depth. */
  private readonly open: Int32Array;
  /** Names of the current tag's attributes: start and end, by turns. */
  private readonly names: number[] = [];

  constructor(bounds: XmlBounds) {
    super();
    this.bounds = bounds;
    this.open = new Int32Array(2 * (bounds.depthMax + 2));
  }

  /** A bound is crossed; reading continues where this returns without setting `stopped`. */
  protected abstract reach(bound: XmlBound): void;
  /** An element begins; its attributes follow. */
  protected abstract openElement(name: number, nameEnd: number): void;
  /** An attribute with its decoded value, declarations of namespaces among them. */
  protected abstract addAttribute(name: number, nameEnd: number, from: number, to: number): void;
  /** Elements ended; `depth` are still open. */
  protected abstract closeElements(depth: number): void;
  /** A document type declaration begins. */
  protected abstract meetDoctype(): void;
  /** A processing instruction, or the declaration of the document. */
  protected abstract meetInstruction(isDeclaration: boolean): void;
  /** Text stands outside of elements. */
  protected abstract noteOutside(from: number, to: number): void;

  /**
   * Reads [start, end) of `slab`. What the root's elements say is written to `textStart` and on,
   * decoded attribute values after as many bytes as the document has; both need its length.
   * `truncated`: the end is a cut.
   */
  protected readSyntax(
    slab: Uint8Array,
    [start, end]: readonly [number, number],
    textStart: number,
    truncated: boolean,
  ): void {
    this.slab = slab;
    this.start = this.at = start;
    this.end = end;
    this.truncated = truncated;
    this.stopped = this.seenRoot = false;
    this.elements = this.attributes = this.depth = this.straySteps = 0;
    this.textStart = this.textEnd = textStart;
    this.spare = textStart + end - start;
    this.readDocument();
  }

  /** The parent loop: one turn reads one run of text or one piece of markup. */
  private readDocument(): void {
    while (this.at < this.end && !this.stopped) {
      if (this.slab[this.at] !== LESS) {
        this.readText();
        continue;
      }
      const next = this.at + 1 < this.end ? this.slab[this.at + 1]! : -1;
      if (next === SLASH) this.readEndTag();
      else if (next === BANG) this.readDeclaration();
      else if (next === QUESTION) this.readInstruction();
      else if (next >= 0 && isNameStart(next)) this.readStartTag();
      else this.skipStray();
    }
    if (!this.stopped && !this.truncated && (this.depth > 0 || !this.seenRoot)) this.fault();
  }

  /** A `<` that begins nothing: an error, and text. */
  private skipStray(): void {
    if (this.at + 1 < this.end || !this.truncated) this.fault();
    this.at++;
    this.put(LESS);
  }

  private readText(): void {
    const { slab, end } = this;
    let at = this.at;
    if (this.depth === 0) {
      // After a byte order mark there may be white space only.
      if (at === this.start && this.startsWith(at, '\xef\xbb\xbf')) at += 3;
      const from = at;
      let blank = true;
      for (; at < end && slab[at] !== LESS; at++) if (!isXmlSpace(slab[at]!)) blank = false;
      if (!blank) {
        this.fault();
        this.noteOutside(from, at);
      }
      this.at = Math.min(at, end);
      return;
    }
    let out = this.textEnd;
    while (at < end) {
      const byte = slab[at]!;
      if (textClass[byte] !== 1) {
        slab[out++] = byte;
        at++;
      } else if (byte === LESS) {
        break;
      } else if (byte === AMPERSAND) {
        at = this.reference(at, out);
        out = this.written;
      } else if (byte === CR) {
        slab[out++] = LF;
        at += slab[at + 1] === LF && at + 1 < end ? 2 : 1;
      } else {
        if (byte !== CLOSE_BRACKET) this.fault();
        else if (at + 2 < end && slab[at + 1] === CLOSE_BRACKET && slab[at + 2] === GREATER) {
          this.fault();
        }
        slab[out++] = byte;
        at++;
      }
    }
    this.textEnd = out;
    this.at = at;
  }

  private put(byte: number): void {
    if (this.depth > 0) this.slab[this.textEnd++] = byte;
  }

  private readStartTag(): void {
    const name = this.at + 1;
    const nameEnd = this.skipName(name);
    if (this.depth === 0 && this.seenRoot) this.fault();
    if (++this.elements > this.bounds.elementsMax) this.reach('elements');
    if (this.depth >= this.bounds.depthMax) {
      this.reach('depth');
      // Deeper elements are not closed one by one: their text and attributes are what counts.
      this.depth--;
    }
    if (this.stopped) return;
    this.seenRoot = true;
    this.depth++;
    this.open[2 * this.depth] = name;
    this.open[2 * this.depth + 1] = nameEnd;
    this.at = nameEnd;
    this.openElement(name, nameEnd);
    const firstRow = this.attributes;
    this.names.length = 0;
    while (!this.stopped) {
      const spaced = this.skipSpace();
      if (this.at >= this.end) return this.cut();
      const byte = this.slab[this.at]!;
      if (byte === GREATER) {
        this.at++;
        break;
      }
      if (byte === SLASH) {
        this.at++;
        if (this.at < this.end && this.slab[this.at] === GREATER) {
          this.at++;
          this.closeElements(--this.depth);
          break;
        }
        if (this.at < this.end) this.fault();
        continue;
      }
      if (!spaced || !isNameStart(byte)) this.fault();
      if (!isNameStart(byte)) this.at++;
      else this.readAttribute();
    }
    if (this.attributes - firstRow > 1) this.checkNames();
  }

  private readAttribute(): void {
    const { slab } = this;
    const name = this.at;
    const nameEnd = (this.at = this.skipName(name));
    if (++this.attributes > this.bounds.attributesMax) {
      this.reach('attributes');
      if (this.stopped) return;
    }
    this.names.push(name, nameEnd);
    this.skipSpace();
    if (this.at >= this.end) return this.cut();
    if (slab[this.at] !== EQUALS) return this.fault();
    this.at++;
    this.skipSpace();
    if (this.at >= this.end) return this.cut();
    const quote = slab[this.at]!;
    if (quote === QUOTE || quote === APOSTROPHE) this.at++;
    else this.fault();
    this.readAttributeValue(quote, name, nameEnd);
  }

  /** Up to the closing quote; an unquoted value, which is an error, ends at white space or `>`. */
  private readAttributeValue(quote: number, name: number, nameEnd: number): void {
    const { slab, end } = this;
    const quoted = quote === QUOTE || quote === APOSTROPHE;
    const start = this.at;
    let at = start;
    let plain = true;
    for (; at < end; at++) {
      const byte = slab[at]!;
      if (quoted ? byte === quote : isXmlSpace(byte) || byte === GREATER) break;
      if (textClass[byte] === 0 || byte === CLOSE_BRACKET) continue;
      plain = false;
      if (byte === LESS || (byte < SPACE && byte !== TAB && byte !== LF && byte !== CR)) {
        this.fault();
      }
    }
    this.at = at < end && quoted ? at + 1 : at;
    let from = start;
    let to = at;
    if (!plain) {
      from = this.spare;
      to = this.decodeValue(start, at);
    }
    this.addAttribute(name, nameEnd, from, to);
    if (at >= end) this.cut();
  }

  private readEndTag(): void {
    const { slab } = this;
    const name = this.at + 2;
    const nameEnd = this.skipName(name);
    this.at = nameEnd;
    this.skipSpace();
    if (this.at >= this.end) return this.cut();
    if (slab[this.at] === GREATER) this.at++;
    else this.fault();
    if (this.depth === 0) return this.fault();
    const matches = this.opens(this.depth, name, nameEnd);
    if (!matches) this.fault();
    // An end tag of no open element closes none.
    const depth = matches ? this.depth : this.openedAt(name, nameEnd);
    if (depth > 0) this.closeElements((this.depth = depth - 1));
  }

  /** True where the element open at that depth has this name. */
  private opens(depth: number, name: number, nameEnd: number): boolean {
    return this.sameBytes(this.open[2 * depth]!, this.open[2 * depth + 1]!, name, nameEnd);
  }

  /**
   * The depth at which an element of that name is open below the innermost one; 0 for none. The
   * document is not well-formed: once it has cost `strayStepsMax`, elements stay open, and what
   * follows is read as theirs.
   */
  private openedAt(name: number, nameEnd: number): number {
    let depth = this.depth - 1;
    while (depth > 0 && this.straySteps < strayStepsMax) {
      this.straySteps++;
      if (this.opens(depth, name, nameEnd)) return depth;
      depth--;
    }
    return 0;
  }

  private readDeclaration(): void {
    const { slab, at, end } = this;
    if (this.startsWith(at + 2, '--')) {
      const close = this.find('-->', at + 4);
      const inner = this.find('--', at + 4);
      if (close >= 0 && inner !== close) this.fault();
      this.at = close < 0 ? end : close + 3;
      if (close < 0) this.cut();
    } else if (this.startsWith(at + 2, '[CDATA[')) {
      const close = this.find(']]>', at + 9);
      const stop = close < 0 ? end : close;
      if (this.depth === 0) this.fault();
      for (let from = at + 9; from < stop; from++) {
        const byte = slab[from]!;
        if (byte < SPACE && byte !== TAB && byte !== LF && byte !== CR) this.fault();
        if (byte !== CR) this.put(byte);
        else if (slab[from + 1] !== LF || from + 1 === stop) this.put(LF);
      }
      this.at = close < 0 ? end : close + 3;
      if (close < 0) this.cut();
    } else if (this.startsWith(at + 2, 'DOCTYPE')) {
      this.meetDoctype();
      this.skipDoctype();
      // Without `<!DOCTYPE`, which alone would count as markup in a value.
      this.noteOutside(Math.min(at + 9, this.at), this.at);
    } else {
      if (!this.truncated || end - at > 9) this.fault();
      this.at = at + 2;
    }
  }

  /** To the `>` that ends it; quotes, comments and the internal subset may hold others. */
  private skipDoctype(): void {
    const { slab, end } = this;
    let at = this.at + 9;
    let quote = 0;
    let bracket = 0;
    for (; at < end; at++) {
      const byte = slab[at]!;
      if (quote !== 0) {
        if (byte === quote) quote = 0;
      } else if (byte === QUOTE || byte === APOSTROPHE) {
        quote = byte;
      } else if (byte === OPEN_BRACKET) {
        bracket++;
      } else if (byte === CLOSE_BRACKET) {
        bracket--;
      } else if (byte === LESS && this.startsWith(at, '<!--')) {
        const close = this.find('-->', at + 4);
        at = close < 0 ? end : close + 2;
      } else if (byte === GREATER && bracket <= 0) {
        break;
      }
    }
    this.at = Math.min(end, at + 1);
    if (at >= end) this.cut();
  }

  private readInstruction(): void {
    const { slab, at, end } = this;
    const close = this.find('?>', at + 2);
    const nameEnd = this.skipName(at + 2);
    const isXml =
      nameEnd - at === 5 &&
      (slab[at + 2]! | 0x20) === 0x78 &&
      (slab[at + 3]! | 0x20) === 0x6d &&
      (slab[at + 4]! | 0x20) === 0x6c;
    const first = at === this.start || (at === this.start + 3 && slab[this.start] === 0xef);
    if (isXml && !first) this.fault();
    this.meetInstruction(isXml);
    if (nameEnd === at + 2 && nameEnd < end) this.fault();
    if (close >= 0 && nameEnd < close && !isXmlSpace(slab[nameEnd]!)) this.fault();
    this.at = close < 0 ? end : close + 2;
    if (close < 0) this.cut();
  }

  /** XML 1.0 section 3.1: no two attributes of one element have the same name. */
  private checkNames(): void {
    const { names } = this;
    const seen = new Set<string>();
    for (let i = 0; i < names.length; i += 2) {
      const name = toByteString(this.slab, names[i]!, names[i + 1]!);
      if (seen.has(name)) this.fault();
      seen.add(name);
    }
  }
}
