/**
 * The step from a pattern of ECMA-262, as JSON Schema has them, to RE2, which takes time linear in
 * the text. Every character and class is written out, so that both mean the same; what RE2 does not
 * have (looking around, references back) has no translation.
 */

import { Re2, re2CompileCode } from '../../native-bindings/re2/re2.ts';
import { apiDocumentLimits } from '../limits/api-document-limits.ts';

/** A pattern in RE2's syntax, or why there is none. */
export type LinearPattern = { readonly source: string } | { readonly problem: string };

class Untranslatable extends Error {}

/** White space and line ends of ECMA-262, and all but these. */
const space =
  '\\t-\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}';
const notSpace =
  '\\x{0}-\\x{8}\\x{e}-\\x{1f}!-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}' +
  '\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}';
const word = '0-9A-Za-z_';
const notWord = '\\x{0}-/:-@[-^`{-\\x{10ffff}';
const notDigit = '\\x{0}-/:-\\x{10ffff}';
const classes: Readonly<Record<string, string>> = {
  d: '0-9',
  D: notDigit,
  w: word,
  W: notWord.replace('[', '\\['),
  s: space,
  S: notSpace,
};

/** Long names of general categories and their short ones. */
const categories: Readonly<Record<string, string>> = {
  Letter: 'L',
  Lowercase_Letter: 'Ll',
  Uppercase_Letter: 'Lu',
  Titlecase_Letter: 'Lt',
  Modifier_Letter: 'Lm',
  Other_Letter: 'Lo',
  Mark: 'M',
  Number: 'N',
  Decimal_Number: 'Nd',
  digit: 'Nd',
  Punctuation: 'P',
  punct: 'P',
  Symbol: 'S',
  Separator: 'Z',
  Space_Separator: 'Zs',
};

/** Translates a pattern. Cost: linear; RE2 compiles the result once. */
export function linearPattern(pattern: string): LinearPattern {
  if (pattern.length > apiDocumentLimits.patternCharactersMax) {
    return { problem: `has more than ${apiDocumentLimits.patternCharactersMax} characters` };
  }
  try {
    const source = new Translation(pattern).run();
    // RE2 has the last word: it bounds repetitions and memory.
    void new Re2(source, 'text');
    return { source };
  } catch (error) {
    if (error instanceof Untranslatable) return { problem: error.message };
    const { code } = error as { readonly code?: string };
    if (code === re2CompileCode) return { problem: 'is not a pattern that RE2 takes' };
    throw error;
  }
}

class Translation {
  readonly #points: readonly string[];
  #at = 0;

  constructor(pattern: string) {
    this.#points = [...pattern];
  }

  run(): string {
    let out = '';
    while (this.#at < this.#points.length) out += this.#item();
    return out;
  }

  #take(): string {
    return this.#points[this.#at++] ?? '';
  }

  #sees(text: string): boolean {
    return [...text].every((point, offset) => this.#points[this.#at + offset] === point);
  }

  #item(): string {
    const point = this.#take();
    switch (point) {
      case '\\':
        return this.#escape();
      case '[':
        return this.#class();
      case '(':
        return this.#group();
      case '.':
        return '[^\\n\\r\\x{2028}\\x{2029}]';
      case '{':
        return this.#braces();
      case '^':
        return '\\A';
      case '$':
        return '\\z';
      case ')':
      case '|':
      case '*':
      case '+':
      case '?':
        return point;
      default:
        return literal(point);
    }
  }

  #group(): string {
    if (!this.#sees('?')) return '(?:';
    if (this.#sees('?:')) {
      this.#at += 2;
      return '(?:';
    }
    if (this.#sees('?<') && !this.#sees('?<=') && !this.#sees('?<!')) {
      while (this.#at < this.#points.length && this.#take() !== '>');
      return '(?:';
    }
    throw new Untranslatable('looks around, which takes time that is not linear');
  }

  #braces(): string {
    const rest = this.#points.slice(this.#at, this.#at + 16).join('');
    const found = /^(\d{1,6})(,(\d{0,6}))?\}/.exec(rest);
    if (found === null) return literal('{');
    this.#at += found[0].length;
    return `{${found[0]}`;
  }

  #escape(): string {
    const point = this.#take();
    if (classes[point] !== undefined) return `[${classes[point]}]`;
    if (point === 'b') return '\\b';
    // RE2 finds places within a character of several bytes.
    if (point === 'B') throw new Untranslatable('asks for a place inside a word');
    if (point === 'p' || point === 'P') return this.#property(point);
    return literal(this.#character(point));
  }

  /** The character that an escape stands for. */
  #character(point: string): string {
    const control: Readonly<Record<string, string>> = {
      t: '\t',
      n: '\n',
      r: '\r',
      f: '\f',
      v: '\v',
    };
    if (control[point] !== undefined) return control[point];
    if (point === '0' && !/[0-9]/.test(this.#points[this.#at] ?? '')) return '\0';
    if (/[1-9k]/.test(point)) throw new Untranslatable('refers back to a group');
    if (point === 'c') return String.fromCodePoint((this.#take().codePointAt(0) ?? 0) % 32);
    if (point === 'x') return this.#hex(2);
    if (point === 'u') return this.#unicode();
    if (point === '' || /[0-9A-Za-z]/.test(point)) {
      throw new Untranslatable('holds an escape that ECMA-262 does not have');
    }
    return point;
  }

  #hex(digits: number): string {
    const text = this.#points.slice(this.#at, this.#at + digits).join('');
    if (!new RegExp(`^[0-9A-Fa-f]{${digits}}$`).test(text)) {
      throw new Untranslatable('holds an escape without its digits');
    }
    this.#at += digits;
    return String.fromCharCode(Number.parseInt(text, 16));
  }

  #unicode(): string {
    if (this.#sees('{')) {
      const found = /^\{([0-9A-Fa-f]{1,6})\}/.exec(this.#points.slice(this.#at).join(''));
      const code = Number.parseInt(found?.[1] ?? '', 16);
      if (found === null || code > 0x10ffff) {
        throw new Untranslatable('holds an escape without its digits');
      }
      this.#at += found[0].length;
      return String.fromCodePoint(code);
    }
    const high = this.#hex(4);
    if (high < '\ud800' || high > '\udbff' || !this.#sees('\\u')) return high;
    const before = this.#at;
    this.#at += 2;
    const low = this.#hex(4);
    if (low >= '\udc00' && low <= '\udfff') return high + low;
    this.#at = before;
    return high;
  }

  #property(letter: string): string {
    const found = /^\{(?:(?:General_Category|gc|(Script|sc))=)?(\w+)\}/.exec(
      this.#points.slice(this.#at, this.#at + 64).join(''),
    );
    if (found === null) throw new Untranslatable('names a Unicode property that is not known');
    this.#at += found[0].length;
    const name = found[2] ?? '';
    return `\\${letter}{${categories[name] ?? name}}`;
  }

  #class(): string {
    const negated = this.#sees('^');
    if (negated) this.#at++;
    let inside = '';
    while (!this.#sees(']')) {
      if (this.#at >= this.#points.length) throw new Untranslatable('has a class without an end');
      inside += this.#member();
    }
    this.#at++;
    const all = '\\x{0}-\\x{10ffff}';
    if (inside === '') return negated ? `[${all}]` : `[^${all}]`;
    return `[${negated ? '^' : ''}${inside}]`;
  }

  /** A character, a range or a class within brackets. */
  #member(): string {
    const first = this.#single();
    if (first.length > 1 && first.startsWith('=')) return first.slice(1);
    if (!this.#sees('-') || this.#points[this.#at + 1] === ']') return literal(first);
    this.#at++;
    const last = this.#single();
    if (last.length > 1 && last.startsWith('=')) return `${literal(first)}\\x{2d}${last.slice(1)}`;
    return `${literal(first)}-${literal(last)}`;
  }

  /** One character, or `=` and the text of a class. */
  #single(): string {
    const point = this.#take();
    if (point !== '\\') return point;
    const escaped = this.#take();
    if (classes[escaped] !== undefined) return `=${classes[escaped]}`;
    if (escaped === 'p' || escaped === 'P') return `=${this.#property(escaped)}`;
    if (escaped === 'b') return '\b';
    if (escaped === '-') return '-';
    return this.#character(escaped);
  }
}

/** A character that means itself, whatever stands around it. */
function literal(text: string): string {
  if (text === '') throw new Untranslatable('ends within an escape or a class');
  const code = text.codePointAt(0) ?? 0;
  if (code >= 0xd800 && code <= 0xdfff) throw new Untranslatable('holds half of a character');
  return /^[0-9A-Za-z ]$/.test(text) ? text : `\\x{${code.toString(16)}}`;
}
