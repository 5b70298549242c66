/**
 * Exact regular expressions: picks RE2 (linear time) where it means the same as PCRE in byte
 * mode, PCRE2 with limits elsewhere. Never used to search many patterns: that is Hyperscan's work.
 */
import { matchLimits } from '../../base/rule-limits.ts';
import { LIMIT_EXCEEDED, Pcre } from '../../native-bindings/index.ts';
import { Re2 } from '../../native-bindings/re2/re2.ts';
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

/** Offsets of the match that RE2 found last. */
const places = new Int32Array(2 * matchLimits.capturesMax);

const searches = { stopped: 0 };

/**
 * How many searches PCRE2's limits have stopped in this thread, whoever asked for them. Read before
 * and after each rule, therefore without a call.
 */
export const pcreSearches: Readonly<typeof searches> = searches;

/**
 * Compiles a pattern.
 * Errors: code `pcre_compile` with `offset` when PCRE2 does not accept it either.
 * Cost: microseconds to milliseconds.
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

/** Each search of a string copies it; longer ones are copied once for all searches in a row. */
const copiedMax = 16_384;

/** The long value that was searched last, and its bytes. */
let longValue: { readonly value: ByteString; readonly bytes: Buffer } | null = null;

/** What RE2 reads: a value, or the bytes of a long one, which rules search one after the other. */
function readable(value: ByteString): ByteString | Buffer {
  if (value.length <= copiedMax) return value;
  if (longValue === null || longValue.value !== value) {
    longValue = { value, bytes: Buffer.from(value, 'latin1') };
  }
  return longValue.bytes;
}

/** Lets go of the long value that was searched last. */
export function forgetSearched(): void {
  longValue = null;
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
  #compiled: Re2 | undefined;
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
  compile(): Re2 {
    return (this.#compiled ??= new Re2(this.#source(), 'bytes'));
  }

  #source(): string {
    const source = this.#translate();
    if (source === null) throw new Error('RE2 has no form of this pattern');
    return source;
  }

  test(value: ByteString): boolean {
    const regex = this.#compiled ?? this.#ready();
    return regex ? regex.test(readable(value)) : this.#other!.test(value);
  }

  /** Undefined when PCRE2 has to do the work. */
  #ready(): Re2 | undefined {
    if (this.#other) return undefined;
    try {
      return this.compile();
    } catch {
      this.#other = this.#fallBack();
      return undefined;
    }
  }

  exec(value: ByteString, start = 0): Capture[] | null {
    const regex = this.#compiled ?? this.#ready();
    if (regex === undefined) return this.#other!.exec(value, start);
    const count = regex.exec(readable(value), start, places);
    if (count === 0) return null;
    const captures: Capture[] = [];
    for (let i = 0; i < count; i++) {
      const from = places[2 * i]!;
      captures.push(from < 0 ? unset : { start: from, end: places[2 * i + 1]! });
    }
    return captures;
  }

  execAll(value: ByteString, limit: number = matchLimits.globalMatchesMax): Capture[][] {
    return collectAll(this, value, limit);
  }

  joined(): JoinedSearch | null {
    if (this.#joined === undefined) {
      this.#joined = this.#ready() === undefined ? null : compileJoined(this.#source());
    }
    return this.#joined;
  }

  close(): void {
    this.#compiled = undefined;
    this.#joined = undefined;
    this.#other?.close();
  }
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
    searches.stopped++;
  }

  close(): void {
    this.#pcre.close();
  }
}
