/**
 * A strict reader of JSON (RFC 8259) for documents of operators: a name that comes twice, numbers
 * that are none and deep nesting end it, each with line and column. JSON.parse takes the first of
 * these in silence and names no place.
 */

import { AppError } from '../../base/errors.ts';
import { yamlLimits } from '../limits/resource-limits.ts';

/** The value of a text. Errors: AppError document_invalid with line and column. */
export function readStrictJson(text: string): unknown {
  return new JsonReader(text).read();
}

const numberShape = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const plainText = /"[^"\\\u0000-\u001f]*"/y;
const anyText = /"[^"\\\u0000-\u001f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\u0000-\u001f]*)*"/y;
const space = /[ \t\n\r]*/y;

class JsonReader {
  readonly #text: string;
  #at = 0;
  #values = 0;

  constructor(text: string) {
    this.#text = text;
  }

  read(): unknown {
    const value = this.#value(0);
    this.#skip();
    if (this.#at < this.#text.length) throw this.#fault('has something after its end');
    return value;
  }

  #fault(problem: string, at = this.#at): AppError {
    const before = this.#text.slice(0, at);
    const line = before.split('\n').length;
    const column = at - before.lastIndexOf('\n');
    const message = `source:${line}:${column}: is not valid JSON at line ${line}: ${problem}`;
    return new AppError('document_invalid', message, { source: 'client' });
  }

  #skip(): void {
    space.lastIndex = this.#at;
    space.exec(this.#text);
    this.#at = space.lastIndex;
  }

  #take(shape: RegExp): string | null {
    shape.lastIndex = this.#at;
    const found = shape.exec(this.#text);
    if (found === null) return null;
    this.#at = shape.lastIndex;
    return found[0];
  }

  #value(depth: number): unknown {
    this.#skip();
    if (depth > yamlLimits.depthMax) {
      throw this.#fault(`is nested deeper than ${yamlLimits.depthMax} levels`);
    }
    if (++this.#values > yamlLimits.valuesMax) {
      throw this.#fault(`holds more than ${yamlLimits.valuesMax} values`);
    }
    const first = this.#text[this.#at];
    if (first === '{') return this.#object(depth);
    if (first === '[') return this.#list(depth);
    if (first === '"') return this.#string();
    for (const [word, value] of words) {
      if (!this.#text.startsWith(word, this.#at)) continue;
      this.#at += word.length;
      return value;
    }
    const at = this.#at;
    const number = this.#take(numberShape);
    if (number === null)
      throw this.#fault(first === undefined ? 'ends too early' : 'a value must stand here');
    const value = Number(number);
    if (!Number.isFinite(value)) throw this.#fault('holds a number that is not finite', at);
    return value;
  }

  #string(): string {
    const at = this.#at;
    const plain = this.#take(plainText);
    if (plain !== null) return plain.slice(1, -1);
    const text = this.#take(anyText);
    if (text === null) throw this.#fault('a text has no end, or holds what must be escaped', at);
    const value = JSON.parse(text) as string;
    if (/\p{Cs}/u.test(value)) throw this.#fault('a text holds half of a character', at);
    return value;
  }

  #list(depth: number): unknown[] {
    this.#at++;
    const list: unknown[] = [];
    this.#skip();
    if (this.#text[this.#at] === ']') {
      this.#at++;
      return list;
    }
    for (;;) {
      list.push(this.#value(depth + 1));
      if (this.#ends(']')) return list;
    }
  }

  #object(depth: number): Record<string, unknown> {
    this.#at++;
    const entries = new Map<string, unknown>();
    this.#skip();
    if (this.#text[this.#at] === '}') {
      this.#at++;
      return {};
    }
    for (;;) {
      this.#skip();
      const at = this.#at;
      if (this.#text[at] !== '"') throw this.#fault('a name in quotes must stand here');
      const name = this.#string();
      if (name.length > yamlLimits.keyCharactersMax) {
        throw this.#fault(`a name has more than ${yamlLimits.keyCharactersMax} characters`, at);
      }
      if (entries.has(name)) throw this.#fault(`the name ${printable(name)} comes twice`, at);
      this.#skip();
      if (this.#text[this.#at] !== ':') throw this.#fault('a colon must stand here');
      this.#at++;
      entries.set(name, this.#value(depth + 1));
      // Own members, whatever their names are.
      if (this.#ends('}')) return Object.fromEntries(entries);
    }
  }

  /** After a member: true at the end, false where another one follows. */
  #ends(end: ']' | '}'): boolean {
    this.#skip();
    const found = this.#text[this.#at];
    if (found !== ',' && found !== end) throw this.#fault(`a comma or ${end} must stand here`);
    this.#at++;
    return found === end;
  }
}

const words: readonly (readonly [string, unknown])[] = [
  ['true', true],
  ['false', false],
  ['null', null],
];

/** What a message may show of a text from outside. */
function printable(text: string): string {
  return JSON.stringify(text.replace(/[^\x20-\x7e]/g, '?').slice(0, 64));
}
