/**
 * Exact regular expressions: picks RE2 (linear time) where it means the same as PCRE in byte
 * mode, PCRE2 with limits elsewhere. Never used to search many patterns: that is Hyperscan's work.
 */
import RE2 from 're2';
import { matchLimits } from '../../base/rule-limits.ts';
import { LIMIT_EXCEEDED, Pcre } from '../../native-bindings/index.ts';
import type { ByteString } from '../../base/byte-string.ts';
import { compileJoined, type JoinedSearch } from './joined-search.ts';
import { translateToRe2 } from './translate-re2.ts';

/** How a pattern is read. */
export interface ExactFlags {
  readonly caseless?: boolean;
  /** `^` and `$` also match at line ends; needs PCRE2. Default false. */
  readonly multiline?: boolean;
  /** The dot matches a newline. Default true, as rules expect. */
  readonly dotall?: boolean;
  /** `$` matches at the very end only. Default true, as rules expect. */
  readonly dollarEndOnly?: boolean;
  readonly extended?: boolean;
}

/** PCRE2 limits of one pattern, matchLimits' values unless given, and when it is read. */
export interface ExactLimits {
  readonly matchLimit?: number;
  readonly depthLimit?: number;
  /** It compiled before, perhaps in another thread: it is read at the first search. */
  readonly known?: boolean;
}

/** One capture as byte offsets [start, end); both -1 when it took no part. */
export interface Capture {
  readonly start: number;
  readonly end: number;
}

/** One compiled pattern, for one thread. After close() its methods must not be called. */
export interface ExactRegex {
  readonly engine: 're2' | 'pcre2';
  /** How many searches a limit stopped; each counted as "no match". */
  readonly limitExceeded: number;
  test(value: ByteString): boolean;
  /** The first match at or after `start` with at most 10 captures, the whole match first. */
  exec(value: ByteString, start?: number): Capture[] | null;
  /** Up to `limit` matches, left to right, none overlapping. */
  execAll(value: ByteString, limit?: number): Capture[][];
  /** The search for values that cannot match among many; null where there is none. */
  joined?(): JoinedSearch | null;
  close(): void;
}

const unset: Capture = { start: -1, end: -1 };

/** Searches that a limit stopped, of all patterns of this thread. */
let stoppedSearches = 0;

/** How many searches PCRE2's limits have stopped in this thread, whoever asked for them. */
export function searchesStopped(): number {
  return stoppedSearches;
}

/**
 * Compiles a pattern.
 * Errors: code `pcre_compile` with `offset` when PCRE2 does not accept it either.
 * Cost: microseconds to milliseconds; RE2 compiles once more at the first exec.
 */
export function compileExact(
  pattern: ByteString,
  flags: ExactFlags = {},
  limits: ExactLimits = {},
): ExactRegex {
  const plain = flags.multiline !== true && flags.extended !== true;
  if (plain && literalPattern.test(pattern))
    return new LiteralRegex(pattern, flags.caseless ?? false);
  if (plain && (flags.dollarEndOnly ?? true)) {
    const translate = (): string | null =>
      translateOnce(pattern, flags.caseless ?? false, flags.dotall ?? true);
    const regex = new Re2Regex(translate, () => new PcreRegex(pattern, flags, limits));
    if (limits.known === true || isForRe2(regex, translate())) return regex;
  }
  return new PcreRegex(pattern, flags, limits);
}

function isForRe2(regex: Re2Regex, source: string | null): boolean {
  if (source === null) return false;
  try {
    if (mayBeRefused.test(source)) regex.compile();
    return true;
  } catch {
    // Too large for RE2, or doubled quantifiers: PCRE2 says whether the pattern is good.
    return false;
  }
}

const encoded = Buffer.allocUnsafeSlow(32_768);

/** Longer values are not written to `encoded`. */
const encodedMax = encoded.length / 2;

/** The long value that was searched last, and its UTF-8. */
let encodedLong: { readonly value: ByteString; readonly bytes: Buffer } | null = null;

/**
 * What RE2 reads: a value in the thread's own buffer, until the next one; of the long ones the last
 * is kept, since rules search it one after the other. Handed a string, the binding makes a new
 * UTF-8 copy: 1.2 us a search instead of 0.5, a millisecond for a megabyte.
 */
function encode(value: ByteString): Buffer {
  if (value.length <= encodedMax) return encoded.subarray(0, encoded.write(value));
  if (encodedLong === null || encodedLong.value !== value) {
    encodedLong = { value, bytes: Buffer.from(value, 'utf8') };
  }
  return encodedLong.bytes;
}

/** Lets go of the long value that was searched last. */
export function forgetSearched(): void {
  encodedLong = null;
}

/** Quantified quantifiers: RE2 refuses them, and PCRE2 may, so that it has to be asked at once. */
const mayBeRefused = /[*+?}][*+{]/;

/** Sources by pattern: the same rule set is linked again for every policy and every change. */
const translated = new Map<string, string | null>();

function translateOnce(pattern: ByteString, caseless: boolean, dotall: boolean): string | null {
  const key = `${Number(caseless)}${Number(dotall)}${pattern}`;
  const known = translated.get(key);
  if (known !== undefined) return known;
  const source = translateToRe2(pattern, { caseless, dotall });
  if (translated.size >= matchLimits.translatedPatternsMax) translated.clear();
  translated.set(key, source);
  return source;
}

function collectAll(regex: ExactRegex, value: ByteString, limit: number): Capture[][] {
  const all: Capture[][] = [];
  let start = 0;
  while (all.length < limit && start <= value.length) {
    const found = regex.exec(value, start);
    const whole = found?.[0];
    if (found === null || whole === undefined) break;
    all.push(found);
    start = whole.end > whole.start ? whole.end : whole.end + 1;
  }
  return all;
}

/**
 * Compiles at the first use: of the hundreds of patterns of a rule set, few are ever confirmed, and
 * each costs RE2 some hundred kilobytes. What RE2 then refuses after all, PCRE2 does.
 */
class Re2Regex implements ExactRegex {
  readonly #translate: () => string | null;
  readonly #fallBack: () => ExactRegex;
  #other: ExactRegex | undefined;
  #tester: RE2 | undefined;
  #finder: RE2 | undefined;
  #joined: JoinedSearch | null | undefined;

  constructor(translate: () => string | null, fallBack: () => ExactRegex) {
    this.#translate = translate;
    this.#fallBack = fallBack;
  }

  get engine(): 're2' | 'pcre2' {
    return this.#other ? 'pcre2' : 're2';
  }

  get limitExceeded(): number {
    return this.#other?.limitExceeded ?? 0;
  }

  /** Errors: what RE2 throws for a pattern that it cannot take. */
  compile(): RE2 {
    return (this.#tester ??= new RE2(this.#source(), 'u'));
  }

  #source(): string {
    const source = this.#translate();
    if (source === null) throw new Error('RE2 has no form of this pattern');
    return source;
  }

  test(value: ByteString): boolean {
    const tester = this.#tester ?? (this.#ready() ? this.compile() : undefined);
    return tester ? tester.test(encode(value)) : this.#other!.test(value);
  }

  /** False when PCRE2 has to do the work. */
  #ready(): boolean {
    if (this.#other) return false;
    try {
      this.compile();
      return true;
    } catch {
      this.#other = this.#fallBack();
      return false;
    }
  }

  exec(value: ByteString, start = 0): Capture[] | null {
    if (!this.#finder && !this.#ready()) return this.#other!.exec(value, start);
    this.#finder ??= new RE2(this.#source(), 'udg');
    if (value.length > encodedMax) {
      const bytes = encode(value);
      const plain = bytes.length === value.length;
      if (plain) return this.#find(bytes, start);
      if (start === 0) return countBytes(bytes, this.#find(bytes, 0));
    }
    return this.#find(value, start);
  }

  /** `start`, and what is found, in the units of `text`: of UTF-8 for a buffer. */
  #find(text: string | Buffer, start: number): Capture[] | null {
    const finder = this.#finder!;
    finder.lastIndex = start;
    const indices = finder.exec(text as string)?.indices;
    if (indices === undefined) return null;
    const count = Math.min(indices.length, matchLimits.capturesMax);
    const captures: Capture[] = [];
    for (let i = 0; i < count; i++) {
      const pair: [number, number] | undefined = indices[i];
      captures.push(pair === undefined ? unset : { start: pair[0], end: pair[1] });
    }
    return captures;
  }

  execAll(value: ByteString, limit: number = matchLimits.globalMatchesMax): Capture[][] {
    return collectAll(this, value, limit);
  }

  joined(): JoinedSearch | null {
    if (this.#joined === undefined) {
      this.#joined = this.#ready() ? compileJoined(this.#source()) : null;
    }
    return this.#joined;
  }

  close(): void {
    this.#tester = undefined;
    this.#finder = undefined;
    this.#joined = undefined;
    this.#other?.close();
  }
}

/** Captures in the UTF-8 of a value as captures in the value, where each byte is one character. */
function countBytes(utf8: Buffer, found: Capture[] | null): Capture[] | null {
  const from = found?.[0]?.start ?? 0;
  const before = utf8.utf8Slice(0, from).length;
  const count = (at: number): number => {
    return at < from ? utf8.utf8Slice(0, at).length : before + utf8.utf8Slice(from, at).length;
  };
  return (
    found?.map((one) =>
      one.start < 0 ? unset : { start: count(one.start), end: count(one.end) },
    ) ?? null
  );
}

/** A word, or a word at the start: no engine needed. */
const literalPattern = /^\^?[A-Za-z0-9_]+$/;

class LiteralRegex implements ExactRegex {
  readonly engine = 're2';
  readonly limitExceeded = 0;
  readonly #word: string;
  readonly #anchored: boolean;
  readonly #caseless: boolean;

  constructor(pattern: ByteString, caseless: boolean) {
    this.#anchored = pattern.startsWith('^');
    const word = this.#anchored ? pattern.slice(1) : pattern;
    this.#word = caseless ? word.toLowerCase() : word;
    this.#caseless = caseless;
  }

  test(value: ByteString): boolean {
    return this.#find(value, 0) >= 0;
  }

  exec(value: ByteString, start = 0): Capture[] | null {
    const at = this.#find(value, start);
    return at < 0 ? null : [{ start: at, end: at + this.#word.length }];
  }

  execAll(value: ByteString, limit: number = matchLimits.globalMatchesMax): Capture[][] {
    return collectAll(this, value, limit);
  }

  close(): void {
    // Holds nothing.
  }

  #find(value: ByteString, start: number): number {
    // Bytes from 0x80 on have no place in the word, so that folding them changes nothing.
    const text = this.#caseless ? value.toLowerCase() : value;
    if (!this.#anchored) return text.indexOf(this.#word, start);
    return start === 0 && text.startsWith(this.#word) ? 0 : -1;
  }
}

class PcreRegex implements ExactRegex {
  readonly engine = 'pcre2';
  limitExceeded = 0;
  readonly #pcre: Pcre;

  constructor(pattern: ByteString, flags: ExactFlags, limits: ExactLimits) {
    const defaults = { dotall: true, dollarEndOnly: true };
    this.#pcre = new Pcre(
      pattern,
      { ...defaults, ...flags },
      {
        matchLimit: limits.matchLimit ?? matchLimits.pcreMatchLimit,
        depthLimit: limits.depthLimit ?? matchLimits.pcreDepthLimit,
      },
    );
  }

  test(value: ByteString): boolean {
    const answer = this.#pcre.test(value);
    if (answer === LIMIT_EXCEEDED) this.#noteLimit();
    return answer === true;
  }

  exec(value: ByteString, start = 0): Capture[] | null {
    const pairs = this.#pcre.exec(value, start);
    if (pairs === LIMIT_EXCEEDED) {
      this.#noteLimit();
      return null;
    }
    if (pairs === null) return null;
    const count = Math.min(pairs.length / 2, matchLimits.capturesMax);
    const captures: Capture[] = [];
    for (let i = 0; i < count; i++) {
      const start = pairs[2 * i] ?? -1;
      captures.push(start < 0 ? unset : { start, end: pairs[2 * i + 1] ?? -1 });
    }
    return captures;
  }

  execAll(value: ByteString, limit: number = matchLimits.globalMatchesMax): Capture[][] {
    return collectAll(this, value, limit);
  }

  #noteLimit(): void {
    this.limitExceeded++;
    stoppedSearches++;
  }

  close(): void {
    this.#pcre.close();
  }
}
