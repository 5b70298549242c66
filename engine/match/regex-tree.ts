/**
 * Reads a PCRE pattern (byte mode, no multiline) into a tree of byte sets. Case folding is
 * done here, ASCII only as PCRE does in byte mode, so that no printer needs flags. Knows nothing
 * of the engines that the tree is printed for.
 */
import { addSet, byteSet, complementOf, escapeSets, foldAscii, posixSets } from './byte-set.ts';
import type { ByteSet } from './byte-set.ts';
import type { ByteString } from '../../base/byte-string.ts';

/** `opaque` stands for what only PCRE can do: it matches the empty string or anything at all. */
export type RegexNode =
  | { readonly kind: 'set'; readonly set: ByteSet }
  | { readonly kind: 'sequence'; readonly parts: readonly RegexNode[] }
  | { readonly kind: 'choice'; readonly options: readonly RegexNode[] }
  | { readonly kind: 'capture'; readonly body: RegexNode }
  | {
      readonly kind: 'repeat';
      readonly body: RegexNode;
      readonly min: number;
      /** Infinity when unbounded. */
      readonly max: number;
      readonly lazy: boolean;
    }
  | { readonly kind: 'assertion'; readonly name: '^' | '$' | 'A' | 'z' | 'b' | 'B' }
  | { readonly kind: 'opaque'; readonly zeroWidth: boolean };

/** Flags that change what a pattern means. */
export interface RegexFlags {
  readonly caseless: boolean;
  readonly dotall: boolean;
}

/** A tree and whether it says all that the pattern says. */
export interface RegexTree {
  readonly root: RegexNode;
  /** False when look-around, back-references, atomic groups or possessive quantifiers were met. */
  readonly exact: boolean;
}

/** Ends the reading: the pattern is wrong, or uses something unknown here. */
class Unreadable extends Error {}

/** Groups inside groups; real patterns nest ten deep. */
const depthMax = 200;

const controlEscapes: ReadonlyMap<string, number> = new Map([
  ['a', 0x07],
  ['e', 0x1b],
  ['f', 0x0c],
  ['n', 0x0a],
  ['r', 0x0d],
  ['t', 0x09],
]);

/** Reads `pattern`; null when PCRE has to be asked. `$` means the very end of the value. */
export function readRegexTree(pattern: ByteString, flags: RegexFlags): RegexTree | null {
  try {
    return new Reader(pattern, flags).read();
  } catch (thrown) {
    if (thrown instanceof Unreadable) return null;
    throw thrown;
  }
}

class Reader {
  readonly #source: ByteString;
  #at = 0;
  #depth = 0;
  #exact = true;
  #caseless: boolean;
  #dotall: boolean;
  /** By spelling: equal sets are one object, so that what is worked out for one serves all. */
  readonly #sets = new Map<string, RegexNode>();

  constructor(source: ByteString, flags: RegexFlags) {
    this.#source = source;
    this.#caseless = flags.caseless;
    this.#dotall = flags.dotall;
  }

  read(): RegexTree {
    const root = this.#choice();
    if (this.#at < this.#source.length) throw new Unreadable();
    return { root, exact: this.#exact };
  }

  #rest(length = 64): string {
    return this.#source.slice(this.#at, this.#at + length);
  }

  /** Alternatives up to `)` or the end; inline flags last until there. */
  #choice(): RegexNode {
    if (++this.#depth > depthMax) throw new Unreadable();
    const { caseless, dotall } = { caseless: this.#caseless, dotall: this.#dotall };
    const options: RegexNode[] = [this.#sequence()];
    while (this.#source.charAt(this.#at) === '|') {
      this.#at++;
      options.push(this.#sequence());
    }
    this.#caseless = caseless;
    this.#dotall = dotall;
    this.#depth--;
    return options.length === 1 ? (options[0] as RegexNode) : { kind: 'choice', options };
  }

  #sequence(): RegexNode {
    const parts: RegexNode[] = [];
    while (this.#at < this.#source.length) {
      const c = this.#source.charAt(this.#at);
      if (c === '|' || c === ')') break;
      const atom = this.#atom(c);
      if (atom !== null) parts.push(this.#quantified(atom));
    }
    return parts.length === 1 ? (parts[0] as RegexNode) : { kind: 'sequence', parts };
  }

  /** One atom, or null for something that is no part of the match (a comment, inline flags). */
  #atom(c: string): RegexNode | null {
    if (c === '(') return this.#group();
    if (c === '[') return this.#class();
    if (c === '\\') return this.#escape();
    if (c === '*' || c === '+' || c === '?') throw new Unreadable();
    this.#at++;
    if (c === '^' || c === '$') return { kind: 'assertion', name: c };
    if (c !== '.') return this.#byte(c.charCodeAt(0));
    return { kind: 'set', set: this.#dotall ? byteSet([0, 255]) : byteSet([0, 9], [11, 255]) };
  }

  #byte(code: number): RegexNode {
    return this.#shared(String(code), () => {
      const set = byteSet([code, code]);
      return this.#caseless ? foldAscii(set) : set;
    });
  }

  #shared(spelling: string, make: () => ByteSet): RegexNode {
    const key = this.#caseless ? `i${spelling}` : spelling;
    let node = this.#sets.get(key);
    if (!node) this.#sets.set(key, (node = { kind: 'set', set: make() }));
    return node;
  }

  #quantified(atom: RegexNode): RegexNode {
    const found = /^(?:([*+?])|\{(\d{1,5})(?:(,)(\d{0,5}))?\})([?+]?)/.exec(this.#rest(16));
    if (found === null) return atom;
    this.#at += found[0].length;
    if (found[5] === '+') this.#exact = false;
    const [, sign, low, comma, high] = found;
    const min = sign === undefined ? Number(low) : sign === '+' ? 1 : 0;
    const bound = comma === undefined ? min : high === '' ? Infinity : Number(high);
    const max = sign === undefined ? bound : sign === '?' ? 1 : Infinity;
    if (max < min || /^(?:[*+?]|\{\d+(?:,\d*)?\})/.test(this.#rest(16))) throw new Unreadable();
    return { kind: 'repeat', body: atom, min, max, lazy: found[5] === '?' };
  }

  #group(): RegexNode | null {
    const rest = this.#rest();
    if (rest.startsWith('(*')) throw new Unreadable();
    if (!rest.startsWith('(?')) return { kind: 'capture', body: this.#body(1) };
    const named = /^\(\?(?:P?<[A-Za-z_]\w{0,30}>|'[A-Za-z_]\w{0,30}')/.exec(rest);
    if (named !== null) return { kind: 'capture', body: this.#body(named[0].length) };
    const look = /^\(\?(?:<?[=!]|>)/.exec(rest);
    if (look !== null) return this.#beyond(look[0]);
    const flags = /^\(\?([is]*)(?:-([is]*))?([:)])/.exec(rest);
    if (flags === null) throw new Unreadable();
    return this.#flagGroup(flags[0].length, flags[1] ?? '', flags[2] ?? '', flags[3] === ':');
  }

  /** An atomic group is read as a plain one; look-around is opaque. Neither is exact. */
  #beyond(opening: string): RegexNode {
    this.#exact = false;
    const body = this.#body(opening.length);
    return opening === '(?>' ? body : { kind: 'opaque', zeroWidth: true };
  }

  #body(openingLength: number): RegexNode {
    this.#at += openingLength;
    const body = this.#choice();
    if (this.#source.charAt(this.#at) !== ')') throw new Unreadable();
    this.#at++;
    return body;
  }

  #flagGroup(length: number, on: string, off: string, opens: boolean): RegexNode | null {
    const { caseless, dotall } = { caseless: this.#caseless, dotall: this.#dotall };
    this.#caseless = (caseless || on.includes('i')) && !off.includes('i');
    this.#dotall = (dotall || on.includes('s')) && !off.includes('s');
    if (!opens) {
      this.#at += length;
      return null;
    }
    const body = this.#body(length);
    this.#caseless = caseless;
    this.#dotall = dotall;
    // A group of its own, so that a quantifier after it applies to all of it.
    return body.kind === 'sequence' ? { kind: 'choice', options: [body] } : body;
  }

  #escape(): RegexNode {
    const c = this.#source.charAt(this.#at + 1);
    const set = escapeSets.get(c);
    if (set !== undefined) {
      this.#at += 2;
      return { kind: 'set', set };
    }
    if (c === 'b' || c === 'B' || c === 'A' || c === 'z') {
      this.#at += 2;
      return { kind: 'assertion', name: c };
    }
    const reference = /^\\[1-9]\d?/.exec(this.#rest(4));
    if (reference === null) return this.#byte(this.#escapedByte());
    this.#at += reference[0].length;
    this.#exact = false;
    return { kind: 'opaque', zeroWidth: false };
  }

  /** The byte that the escape at the current place stands for; moves past it. */
  #escapedByte(): number {
    const c = this.#source.charAt(this.#at + 1);
    const control = controlEscapes.get(c);
    if (control !== undefined) {
      this.#at += 2;
      return control;
    }
    const rest = this.#rest(16);
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
    if (c === '' || /[0-9A-Za-z]/.test(c)) throw new Unreadable();
    this.#at += 2;
    return c.charCodeAt(0);
  }

  #class(): RegexNode {
    const start = this.#at++;
    const negated = this.#source.charAt(this.#at) === '^';
    if (negated) this.#at++;
    const set = byteSet();
    for (let first = true; ; first = false) {
      if (this.#at >= this.#source.length) throw new Unreadable();
      if (!first && this.#source.charAt(this.#at) === ']') break;
      this.#classItem(set);
    }
    this.#at++;
    return this.#shared(this.#source.slice(start, this.#at), () => {
      const folded = this.#caseless ? foldAscii(set) : set;
      return negated ? complementOf(folded) : folded;
    });
  }

  /** Adds one item, or one range, to the set. */
  #classItem(set: ByteSet): void {
    const low = this.#classAtom(set);
    if (low === null) return;
    const next = this.#source.charAt(this.#at + 1);
    const range = this.#source.charAt(this.#at) === '-' && next !== ']' && next !== '';
    set[low] = 1;
    if (!range) return;
    this.#at++;
    const high = this.#classAtom(set);
    // A class cannot end a range: the hyphen stands for itself.
    if (high === null) set[0x2d] = 1;
    else if (high < low) throw new Unreadable();
    else set.fill(1, low, high + 1);
  }

  /** A single byte, or null when it was a class that is already added to `set`. */
  #classAtom(set: ByteSet): number | null {
    const c = this.#source.charAt(this.#at);
    if (c === '[' && /^\[[:.=]/.test(this.#rest(2))) return this.#posixClass(set);
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
    if (kind >= '1' && kind <= '9') throw new Unreadable();
    return this.#escapedByte();
  }

  #posixClass(set: ByteSet): null {
    const found = /^\[:(\^?)([a-z]+):\]/.exec(this.#rest(16));
    const known = posixSets.get(found?.[2] ?? '');
    if (found === null || known === undefined) throw new Unreadable();
    // Under case folding lower and upper mean any letter, before a negation too.
    const folded = this.#caseless ? foldAscii(known) : known;
    addSet(set, found[1] === '^' ? complementOf(folded) : folded);
    this.#at += found[0].length;
    return null;
  }
}
