/**
 * Owns rewriting a PCRE pattern (byte mode) for RE2 so that both match the same bytes. Refuses
 * every construct that it does not know to mean the same: the caller then uses PCRE2. Never
 * compiles anything.
 *
 * Classes are written as explicit byte sets, case folding of them is done here (ASCII only, as
 * PCRE does in byte mode), so that RE2's Unicode folding has no say.
 */
import {
  addSet,
  byteSet,
  complementOf,
  escapeSets,
  foldAscii,
  posixSets,
  re2Byte,
  re2Class,
} from './byte-set.ts';
import type { ByteSet } from './byte-set.ts';
import type { ByteString } from '../base/byte-string.ts';

export interface TranslateFlags {
  readonly caseless: boolean;
  readonly dotall: boolean;
}

/** RE2 takes at most this many repetitions. */
const re2RepeatMax = 1000;

interface Scope {
  caseless: boolean;
  dotall: boolean;
}

/** Ends the translation: the pattern needs PCRE2. */
class Untranslatable extends Error {}

const controlEscapes: ReadonlyMap<string, number> = new Map([
  ['a', 0x07],
  ['e', 0x1b],
  ['f', 0x0c],
  ['n', 0x0a],
  ['r', 0x0d],
  ['t', 0x09],
]);

/**
 * The RE2 source for `pattern`, to be compiled with flag `i` when `flags.caseless`; null when
 * PCRE2 is needed. `$` means the very end of the value, `^` its start (no multiline).
 */
export function translateToRe2(pattern: ByteString, flags: TranslateFlags): string | null {
  try {
    return new Translator(pattern, flags).run();
  } catch (thrown) {
    if (thrown instanceof Untranslatable) return null;
    throw thrown;
  }
}

class Translator {
  readonly #source: ByteString;
  #at = 0;
  #scope: Scope;
  readonly #outer: Scope[] = [];

  constructor(source: ByteString, flags: TranslateFlags) {
    this.#source = source;
    this.#scope = { caseless: flags.caseless, dotall: flags.dotall };
  }

  run(): string {
    let out = '';
    while (this.#at < this.#source.length) out += this.#next();
    if (this.#outer.length !== 0) throw new Untranslatable();
    return out;
  }

  #next(): string {
    const c = this.#source.charAt(this.#at);
    switch (c) {
      case '(':
        return this.#openGroup();
      case ')':
        return this.#closeGroup();
      case '[':
        return this.#class();
      case '\\':
        return this.#escape();
      case '.':
        this.#at++;
        return this.#scope.dotall ? '(?s:.)' : '[^\\x{a}]';
      case '*':
      case '+':
      case '?':
        this.#at++;
        return c + this.#lazy();
      case '{':
        return this.#braces();
      case '^':
      case '$':
      case '|':
        this.#at++;
        return c;
      default:
        this.#at++;
        return this.#literal(c.charCodeAt(0));
    }
  }

  #literal(code: number): string {
    const alnum = escapeSets.get('w')?.[code] === 1;
    if (alnum) return String.fromCharCode(code);
    return code >= 0x80 && this.#scope.caseless ? `(?-i:${re2Byte(code)})` : re2Byte(code);
  }

  /** After a quantifier: lazy is the same in both engines, possessive is PCRE's own. */
  #lazy(): string {
    const c = this.#source.charAt(this.#at);
    if (c === '+') throw new Untranslatable();
    if (c !== '?') return '';
    this.#at++;
    return '?';
  }

  #braces(): string {
    const found = /^\{(\d{1,5})(,(\d{0,5}))?\}/.exec(this.#source.slice(this.#at, this.#at + 16));
    if (found === null) {
      this.#at++;
      return re2Byte(0x7b);
    }
    if (Number(found[1]) > re2RepeatMax || Number(found[3] ?? 0) > re2RepeatMax) {
      throw new Untranslatable();
    }
    this.#at += found[0].length;
    return found[0] + this.#lazy();
  }

  #openGroup(): string {
    const rest = this.#source.slice(this.#at + 1, this.#at + 64);
    if (rest.startsWith('*')) throw new Untranslatable();
    if (!rest.startsWith('?')) return this.#enter(1, '(', this.#scope);
    const named = /^\?(?:P?<([A-Za-z_]\w{0,30})>|'[A-Za-z_]\w{0,30}')/.exec(rest);
    if (named !== null) return this.#enter(1 + named[0].length, '(', this.#scope);
    const flags = /^\?([is]*)(?:-([is]*))?([:)])/.exec(rest);
    if (flags === null) throw new Untranslatable();
    return this.#flagGroup(flags[0].length, flags[1] ?? '', flags[2] ?? '', flags[3] === ':');
  }

  #flagGroup(length: number, on: string, off: string, opens: boolean): string {
    const scope = {
      caseless: (this.#scope.caseless || on.includes('i')) && !off.includes('i'),
      dotall: (this.#scope.dotall || on.includes('s')) && !off.includes('s'),
    };
    const flag = scope.caseless ? 'i' : '-i';
    if (opens) return this.#enter(1 + length, `(?${flag}:`, scope);
    this.#at += 1 + length;
    this.#scope = scope;
    return `(?${flag})`;
  }

  #enter(length: number, text: string, scope: Scope): string {
    this.#at += length;
    this.#outer.push(this.#scope);
    this.#scope = { ...scope };
    return text;
  }

  #closeGroup(): string {
    const outer = this.#outer.pop();
    if (outer === undefined) throw new Untranslatable();
    this.#at++;
    this.#scope = outer;
    return ')';
  }

  #escape(): string {
    const c = this.#source.charAt(this.#at + 1);
    const set = escapeSets.get(c);
    if (set !== undefined) {
      this.#at += 2;
      return this.#withoutFolding(set);
    }
    if (c === 'b' || c === 'B' || c === 'A' || c === 'z') {
      this.#at += 2;
      return `\\${c}`;
    }
    if (c >= '1' && c <= '9') throw new Untranslatable();
    return this.#literal(this.#escapedByte());
  }

  /** The byte that the escape at the current place stands for; moves behind it. */
  #escapedByte(): number {
    const c = this.#source.charAt(this.#at + 1);
    const control = controlEscapes.get(c);
    if (control !== undefined) {
      this.#at += 2;
      return control;
    }
    const rest = this.#source.slice(this.#at, this.#at + 16);
    const found =
      /^\\x\{0*([0-9A-Fa-f]{1,2})\}/.exec(rest) ?? /^\\x(?!\{)([0-9A-Fa-f]{0,2})/.exec(rest);
    if (found !== null) {
      this.#at += found[0].length;
      return found[1] === '' ? 0 : parseInt(found[1] ?? '0', 16);
    }
    const octal = /^\\(0[0-7]{0,2})/.exec(rest);
    if (octal !== null) {
      this.#at += octal[0].length;
      return parseInt(octal[1] ?? '0', 8);
    }
    if (c === '' || /[0-9A-Za-z]/.test(c)) throw new Untranslatable();
    this.#at += 2;
    return c.charCodeAt(0);
  }

  #withoutFolding(set: ByteSet): string {
    return this.#scope.caseless ? `(?-i:${re2Class(set)})` : re2Class(set);
  }

  #class(): string {
    this.#at++;
    const negated = this.#source.charAt(this.#at) === '^';
    if (negated) this.#at++;
    const set = byteSet();
    for (let first = true; ; first = false) {
      if (this.#at >= this.#source.length) throw new Untranslatable();
      if (!first && this.#source.charAt(this.#at) === ']') break;
      this.#classItem(set);
    }
    this.#at++;
    const folded = this.#scope.caseless ? foldAscii(set) : set;
    return this.#withoutFolding(negated ? complementOf(folded) : folded);
  }

  /** Adds one item, or one range, to the set. */
  #classItem(set: ByteSet): void {
    const low = this.#classAtom(set);
    if (low === null || this.#source.charAt(this.#at) !== '-') {
      if (low !== null) set[low] = 1;
      return;
    }
    const next = this.#source.charAt(this.#at + 1);
    if (next === ']' || next === '') {
      set[low] = 1;
      return;
    }
    this.#at++;
    const high = this.#classAtom(set);
    if (high === null) {
      // A class cannot end a range: the hyphen stands for itself.
      set[low] = 1;
      set[0x2d] = 1;
      return;
    }
    if (high < low) throw new Untranslatable();
    set.fill(1, low, high + 1);
  }

  /** A single byte, or null when it was a class that is already added to `set`. */
  #classAtom(set: ByteSet): number | null {
    const c = this.#source.charAt(this.#at);
    if (c === '[' && /^\[[:.=]/.test(this.#source.slice(this.#at, this.#at + 2))) {
      return this.#posixClass(set);
    }
    if (c !== '\\') {
      this.#at++;
      return c.charCodeAt(0);
    }
    const kind = this.#source.charAt(this.#at + 1);
    const known = escapeSets.get(kind);
    if (known !== undefined) {
      addSet(set, known);
      this.#at += 2;
      return null;
    }
    if (kind === 'b') {
      this.#at += 2;
      return 0x08;
    }
    if (kind >= '1' && kind <= '9') throw new Untranslatable();
    return this.#escapedByte();
  }

  #posixClass(set: ByteSet): null {
    const rest = this.#source.slice(this.#at, this.#at + 16);
    const found = /^\[:(\^?)([a-z]+):\]/.exec(rest);
    const known = posixSets.get(found?.[2] ?? '');
    if (found === null || known === undefined) throw new Untranslatable();
    // Under case folding lower and upper mean any letter, before a negation too.
    const folded = this.#scope.caseless ? foldAscii(known) : known;
    addSet(set, found[1] === '^' ? complementOf(folded) : folded);
    this.#at += found[0].length;
    return null;
  }
}
