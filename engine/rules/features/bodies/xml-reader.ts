/**
 * Reads an XML body of an ASCII-compatible encoding straight from the slab: the text of the
 * root element as one row, every attribute as another, and whether the document is well-formed.
 * Builds no tree and no strings; xml-tree.ts does, for selectors that need one.
 */

import { valueLimits } from '../../../base/rule-limits.ts';
import type { Transaction } from '../../transaction/transaction.ts';
import { SOURCE, type ValueTable } from '../../transaction/values.ts';
import { type InspectionLimitName, reachLimit } from '../../transaction/inspection-limits.ts';
import { failBody } from './arguments.ts';
import { addRawText } from './raw-text.ts';
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

/** Pieces of text outside of elements that are kept apart; further ones are one. */
const outsideMax = 32;

/** 1 for bytes of text that need a look; 2 for those that only attribute values mind. */
const textClass: Uint8Array = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte === TAB || byte === LF) return 2;
  return byte < SPACE || byte === AMPERSAND || byte === LESS || byte === CLOSE_BRACKET ? 1 : 0;
});

/** Reads one document at a time; reused, so that reading allocates little. Not re-entrant. */
export class XmlReader extends XmlCursor {
  private tx!: Transaction;
  private values!: ValueTable;
  private stopped = false;
  private seenRoot = false;
  private elements = 0;
  private attributes = 0;
  private depth = 0;
  /** Where the names of open elements stand: start and end by depth. */
  private readonly open = new Int32Array(2 * (valueLimits.xmlDepthMax + 2));
  // The text of the root grows from textStart; decoded attribute values begin after its room.
  private textStart = 0;
  private textEnd = 0;
  private keyStart = 0;
  /** Names of the current tag's attributes: start and end, by turns. */
  private readonly names: number[] = [];
  /** Text outside of elements: start and end, by turns. */
  private readonly outside: number[] = [];

  /** Reads [start, end) of the slab. Errors: REQBODY_ERROR; `truncated`: the end is a cut. */
  read(tx: Transaction, start: number, end: number, truncated: boolean): void {
    const values = tx.values;
    this.tx = tx;
    this.values = values;
    this.keyStart = values.appendText('//@*');
    const textKey = values.appendText('/*');
    values.reserve(2 * (end - start));
    this.slab = values.slab;
    this.start = start;
    this.at = start;
    this.end = end;
    this.truncated = truncated;
    this.stopped = false;
    this.outside.length = 0;
    this.seenRoot = false;
    this.elements = this.attributes = this.depth = 0;
    this.textStart = this.textEnd = values.used;
    this.spare = this.textStart + end - start;
    this.readDocument();
    values.used = this.spare;
    for (let i = 0; i < this.outside.length; i += 2) {
      this.addOutside(this.outside[i]!, this.outside[i + 1]!);
    }
    if (this.stopped) this.addOutside(this.at, end);
    if (!this.seenRoot) return;
    values.add(SOURCE.xmlText, textKey, textKey + 2, this.textStart, this.textEnd);
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
    if (++this.elements > valueLimits.xmlElementsMax) {
      this.reach('xml-elements', 'XML: too many elements');
    }
    if (this.depth >= valueLimits.xmlDepthMax) {
      this.reach('xml-depth', 'XML: nesting too deep');
      // Deeper elements are not closed one by one: their text and attributes are what counts.
      this.depth--;
    }
    if (this.stopped) return;
    this.seenRoot = true;
    this.depth++;
    this.open[2 * this.depth] = name;
    this.open[2 * this.depth + 1] = nameEnd;
    this.at = nameEnd;
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
          this.depth--;
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
    if (++this.attributes > valueLimits.xmlAttributesMax) {
      this.reach('xml-attributes', 'XML: too many attributes');
      if (this.attributes > valueLimits.argumentRowsMax) this.stopped = true;
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
    this.readAttributeValue(quote, isDeclaration(slab, name, nameEnd));
  }

  /** Up to the closing quote; an unquoted value, which is an error, ends at white space or `>`. */
  private readAttributeValue(quote: number, hidden: boolean): void {
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
    const key = this.keyStart;
    if (!hidden) this.values.add(SOURCE.xmlAttribute, key, key + 4, from, to);
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
    const open = this.open[2 * this.depth]!;
    const matches = this.sameBytes(open, this.open[2 * this.depth + 1]!, name, nameEnd);
    if (!matches) this.fault();
    // An end tag of no open element closes none.
    let depth = this.depth;
    while (depth > 0) {
      const from = this.open[2 * depth]!;
      if (this.sameBytes(from, this.open[2 * depth + 1]!, name, nameEnd)) break;
      depth--;
    }
    if (depth > 0) this.depth = depth - 1;
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
      failBody(this.tx, 'XML: a document type is not accepted');
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
    if (nameEnd === at + 2 && nameEnd < end) this.fault();
    if (close >= 0 && nameEnd < close && !isXmlSpace(slab[nameEnd]!)) this.fault();
    this.at = close < 0 ? end : close + 2;
    if (close < 0) this.cut();
  }

  /** XML 1.0 section 3.1: no two attributes of one element have the same name. */
  private checkNames(): void {
    const { names } = this;
    const seen = new Set<string>();
    const bytes = this.values.slab;
    for (let i = 0; i < names.length; i += 2) {
      const name = bytes.latin1Slice(names[i], names[i + 1]);
      if (seen.has(name)) this.fault();
      seen.add(name);
    }
  }

  protected fault(): void {
    failBody(this.tx, 'XML: not well-formed');
  }

  /** A limit ends reading, but for `SecInspectUnparsed`. */
  private reach(limit: InspectionLimitName, reason: string): void {
    if (!this.tx.settings.inspectsUnparsed) this.stopped = true;
    failBody(this.tx, reason);
    reachLimit(this.tx, limit);
  }

  private noteOutside(from: number, to: number): void {
    const { outside } = this;
    if (outside.length < 2 * outsideMax) outside.push(from, to);
    else outside[outside.length - 1] = to;
  }

  /** What stands outside of elements and says nothing in XML is inspected as text. */
  private addOutside(from: number, to: number): void {
    if (this.tx.settings.inspectsUnparsed) addRawText(this.tx, SOURCE.argPost, from, to);
  }
}

/** `xmlns` and `xmlns:...` are no attributes to XPath. */
function isDeclaration(slab: Uint8Array, start: number, end: number): boolean {
  const text = 'xmlns';
  if (end - start < 5) return false;
  for (let i = 0; i < 5; i++) if (slab[start + i] !== text.charCodeAt(i)) return false;
  return end - start === 5 || slab[start + 5] === 0x3a;
}
