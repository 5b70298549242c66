/**
 * Opens JSON, also when it breaks off: strings and names up to the break are leaves. Strict in what
 * it takes for JSON, so that nothing stands beside leaves unseen. Source: RFC 8259.
 */

import type { ByteString } from '../../../base/byte-string.ts';
import { detectLimits } from '../../base/detect-limits.ts';
import { decodeEscapes } from './escapes.ts';
import type { Leaves } from './leaves.ts';

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

const literals = ['true', 'false', 'null'] as const;
const numberPattern = /-?\d{1,400}(?:\.\d{1,400})?(?:[eE][+-]?\d{1,4})?/y;

/** One open list or object. */
interface Level {
  readonly list: boolean;
  /** The path to it. */
  readonly label: string;
  name: ByteString;
  index: number;
}

/** How far a text is JSON. */
export interface JsonReading {
  /** Strings and members that were read. */
  readonly items: number;
  /** Offset of the break; the length of the text if there is none. */
  readonly end: number;
  /** The break is inside a string that began here; -1 elsewhere. */
  readonly brokenString: number;
}

/** Whether a text begins as a list or an object does. */
export function looksLikeJson(text: ByteString): boolean {
  const at = skipBlanks(text, 0);
  const code = text.charCodeAt(at);
  return code === OPEN_OBJECT || code === OPEN_LIST;
}

/** Reads it and adds its leaves. Cost: linear. */
export function openJson(text: ByteString, leaves: Leaves): JsonReading {
  return new JsonReader(text, leaves).read();
}

class JsonReader {
  private readonly text: ByteString;
  private readonly leaves: Leaves;
  private readonly levels: Level[] = [];
  private at = 0;
  private items = 0;
  private brokenString = -1;

  constructor(text: ByteString, leaves: Leaves) {
    this.text = text;
    this.leaves = leaves;
  }

  read(): JsonReading {
    const { text } = this;
    let wholeTo = 0;
    for (;;) {
      this.at = skipBlanks(text, this.at);
      wholeTo = this.at;
      if (!this.readValue()) break;
      if (!this.readAfterValue()) break;
      if (this.levels.length > 0) continue;
      wholeTo = skipBlanks(text, this.at);
      break;
    }
    return { items: this.items, end: wholeTo, brokenString: this.brokenString };
  }

  /** Enters lists and objects; false at a break. */
  private readValue(): boolean {
    const { text } = this;
    for (;;) {
      const code = text.charCodeAt(this.at);
      if (code !== OPEN_OBJECT && code !== OPEN_LIST) return this.readScalar(code);
      if (this.levels.length >= detectLimits.jsonDepthMax) return false;
      const list = code === OPEN_LIST;
      const inside = skipBlanks(text, this.at + 1);
      if (text.charCodeAt(inside) === (list ? CLOSE_LIST : CLOSE_OBJECT)) {
        this.at = inside + 1;
        this.items++;
        return true;
      }
      const level = { list, label: this.label(), name: '', index: 0 };
      this.levels.push(level);
      this.at = inside;
      if (!list && !this.readName(level)) return false;
    }
  }

  private readName(level: Level): boolean {
    const { text } = this;
    if (text.charCodeAt(this.at) !== QUOTE) return false;
    const name = this.readString();
    if (name === null) return false;
    level.name = name;
    this.at = skipBlanks(text, this.at);
    if (text.charCodeAt(this.at) !== COLON) return false;
    this.at = skipBlanks(text, this.at + 1);
    if (this.leaves.wants(name)) this.leaves.add('json name', name, 'name');
    return true;
  }

  private readScalar(code: number): boolean {
    const { text } = this;
    if (code === QUOTE) {
      const value = this.readString();
      if (value === null) return false;
      this.items++;
      if (this.leaves.wants(value)) this.leaves.add(this.label(), value);
      return true;
    }
    numberPattern.lastIndex = this.at;
    const number = numberPattern.exec(text);
    const literal = literals.find((one) => text.startsWith(one, this.at));
    const length = number?.[0].length ?? literal?.length ?? 0;
    this.at += length;
    if (length > 0) this.items++;
    return length > 0;
  }

  /** Closes levels, or stands at the next value; false at a break. */
  private readAfterValue(): boolean {
    const { text, levels } = this;
    while (levels.length > 0) {
      const level = levels.at(-1)!;
      this.at = skipBlanks(text, this.at);
      const code = text.charCodeAt(this.at);
      if (code === COMMA) {
        this.at = skipBlanks(text, this.at + 1);
        level.index++;
        return level.list || this.readName(level);
      }
      if (code !== (level.list ? CLOSE_LIST : CLOSE_OBJECT)) return false;
      this.at++;
      levels.pop();
    }
    return true;
  }

  /** The string at `at`, decoded; null where it does not end. */
  private readString(): ByteString | null {
    const { text } = this;
    const start = this.at + 1;
    let escaped = false;
    for (let at = start; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code === BACKSLASH) {
        escaped = true;
        at++;
      } else if (code === QUOTE) {
        this.at = at + 1;
        const raw = text.slice(start, at);
        return escaped ? decodeEscapes(raw) : raw;
      }
    }
    this.brokenString = start;
    return null;
  }

  private label(): string {
    const level = this.levels.at(-1);
    if (level === undefined) return 'json';
    return `${level.label}.${level.list ? level.index : level.name}`;
  }
}

function skipBlanks(text: ByteString, from: number): number {
  let at = from;
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return at;
  }
  return at;
}
