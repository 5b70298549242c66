/**
 * Reads a text as tokens of SQL without knowing in which quote it begins: a quote is a token of its
 * own, and what stands between quotes is read as if it were SQL. Shapes decide what they are.
 * Comments are blanks, but MySQL's executable ones are read. Source: MySQL 8 manual, 11.7 Comments.
 */

import type { ByteString } from '../../../base/byte-string.ts';
import { detectLimits } from '../../base/detect-limits.ts';
import { isWordCode, readWord, readWordEnd, TOKEN, wordToken } from './words.ts';

/** Tokens of the text read last. Shared by all readings of a thread. */
export class SqlTokens {
  readonly kind = new Uint8Array(detectLimits.tokensMax + 8);
  readonly start = new Int32Array(detectLimits.tokensMax + 8);
  readonly end = new Int32Array(detectLimits.tokensMax + 8);
  count = 0;
  /** The text that was read last. */
  text: ByteString = '';
  /** Of each quote the next one, or `count`. */
  readonly nextQuote = new Int32Array(detectLimits.tokensMax + 8);
  /** The last token that is a quote; -1 without one. */
  private lastQuote = -1;
  /** Where the reading stopped; the length of the text unless it has too many tokens. */
  stopped = 0;
  /** One executable comment or more. */
  executable = false;
  /** Bytes looked at; for tests of the cost. */
  steps = 0;

  /** Reads from `from`. Cost: linear. */
  read(text: ByteString, from: number): void {
    this.count = 0;
    this.text = text;
    this.lastQuote = -1;
    this.executable = false;
    let at = from;
    while (at < text.length && this.count < detectLimits.tokensMax) {
      this.steps++;
      const code = text.charCodeAt(at);
      if (isBlank(code)) {
        at++;
        continue;
      }
      if (code === 0x2f && text.charCodeAt(at + 1) === 0x2a) {
        at = this.skipComment(text, at);
        continue;
      }
      if (code === 0x2a && text.charCodeAt(at + 1) === 0x2f) {
        at += 2;
        continue;
      }
      const line = lineCommentEnd(text, at, code);
      at = line > 0 ? line : this.readToken(text, at, code);
    }
    this.stopped = at;
    if (this.lastQuote >= 0) this.nextQuote[this.lastQuote] = this.count;
    this.kind.fill(TOKEN.none, this.count, this.count + 8);
  }

  /** The offset after a comment; an executable one is read, one that does not end is two bytes. */
  private skipComment(text: ByteString, at: number): number {
    if (text.charCodeAt(at + 2) === 0x21) {
      this.executable = true;
      let inside = at + 3;
      for (let digits = 0; digits < 6 && isDigit(text.charCodeAt(inside)); digits++) inside++;
      return inside;
    }
    const close = text.indexOf('*/', at + 2);
    // At the end of a value it makes the rest of the query a comment.
    if (close < 0 && text.length - at < 8) return this.push(TOKEN.lineComment, at, at + 2);
    if (close < 0) return at + 2;
    // What holds a quote may be no comment: its opening may stand in a string.
    const quote = /['"]/.test(text.slice(at, Math.min(close, at + 256)));
    return quote ? at + 2 : close + 2;
  }

  private readToken(text: ByteString, at: number, code: number): number {
    if (isDigit(code) || (code === 0x2e && isDigit(text.charCodeAt(at + 1)))) {
      return this.readNumber(text, at);
    }
    if (isWordCode(code)) {
      const kind = readWord(text, at);
      this.steps += readWordEnd - at;
      return this.push(kind, at, readWordEnd);
    }
    if (code === 0x40) {
      let end = at + 1;
      while (end < text.length && (isWordCode(text.charCodeAt(end)) || text[end] === '@')) end++;
      return this.push(end - at > 1 ? TOKEN.variable : TOKEN.other, at, end);
    }
    return this.readSign(text, at, code);
  }

  private readNumber(text: ByteString, at: number): number {
    const stretch = numberStretch(text, at);
    // `1union`, `1e0union`, `0x41or` have no blank between number and word.
    let kind: number = TOKEN.number;
    let end = Math.max(at + 1, numberEnd(text, at, stretch));
    if (end < text.length && isWordCode(text.charCodeAt(end))) {
      let word = end;
      while (word < text.length && isWordCode(text.charCodeAt(word))) word++;
      if (wordToken(text, end, word) === TOKEN.name) {
        kind = TOKEN.name;
        end = word;
      }
    }
    this.steps += end - at;
    return this.push(kind, at, end);
  }

  private readSign(text: ByteString, at: number, code: number): number {
    const next = text.charCodeAt(at + 1);
    switch (code) {
      case 0x27:
      case 0x22:
      case 0x60:
        if (this.lastQuote >= 0) this.nextQuote[this.lastQuote] = this.count;
        this.lastQuote = this.count;
        return this.push(TOKEN.quote, at, at + 1);
      case 0x28:
        return this.push(TOKEN.open, at, at + 1);
      case 0x29:
        return this.push(TOKEN.close, at, at + 1);
      case 0x2c:
        return this.push(TOKEN.comma, at, at + 1);
      case 0x3b:
        return this.push(TOKEN.semicolon, at, at + 1);
      case 0x2e:
        return this.push(TOKEN.dot, at, at + 1);
      case 0x23:
        return this.push(TOKEN.lineComment, at, at + 1);
      case 0x2d:
        if (next === 0x2d) return this.push(TOKEN.lineComment, at, at + 2);
        return this.push(TOKEN.arithmetic, at, at + 1);
      case 0x26:
      case 0x7c:
        if (next === code) return this.push(TOKEN.connect, at, at + 2);
        return this.push(TOKEN.arithmetic, at, at + 1);
      case 0x3d:
      case 0x3c:
      case 0x3e:
        return this.readComparison(text, at);
      case 0x21:
        if (next === 0x3d) return this.readComparison(text, at);
        return this.push(TOKEN.bang, at, at + 1);
      case 0x2b:
      case 0x2a:
      case 0x2f:
      case 0x25:
      case 0x7e:
      case 0x5e:
        return this.push(TOKEN.arithmetic, at, at + 1);
      default:
        return this.push(TOKEN.other, at, at + 1);
    }
  }

  private readComparison(text: ByteString, at: number): number {
    const end = comparisonEnd(text, at);
    // `===` and `!==` are of JavaScript and PHP.
    const strict = end === at + 3 && text.charCodeAt(at + 1) === 0x3d && text[at + 2] === '=';
    return this.push(strict ? TOKEN.other : TOKEN.compare, at, end);
  }

  private push(kind: number, start: number, end: number): number {
    const at = this.count++;
    this.kind[at] = kind;
    this.start[at] = start;
    this.end[at] = end;
    return end;
  }
}

/** The end of a comment that a line ends soon and that holds no quote; 0 where there is none. */
function lineCommentEnd(text: ByteString, at: number, code: number): number {
  if (code !== 0x23 && (code !== 0x2d || text.charCodeAt(at + 1) !== 0x2d)) return 0;
  const part = text.slice(at, at + 120);
  const end = part.indexOf('\n');
  if (end < 0 || end === part.length - 1) return 0;
  return /['"]/.test(part.slice(0, end)) ? 0 : at + end + 1;
}

function comparisonEnd(text: ByteString, at: number): number {
  let end = at + 1;
  for (; end < at + 3; end++) {
    const code = text.charCodeAt(end);
    if (code !== 0x3c && code !== 0x3d && code !== 0x3e) break;
  }
  return end;
}

/** The end of the bytes that numbers have: digits, `.`, `x`, letters of hexadecimal, exponents. */
function numberStretch(text: ByteString, at: number): number {
  let end = at + 1;
  for (; end < text.length; end++) {
    const code = text.charCodeAt(end);
    if (isDigit(code) || code === 0x2e || isHex(code) || code === 0x78) continue;
    const isSign = code === 0x2b || code === 0x2d;
    if (!isSign || (text.charCodeAt(end - 1) | 0x20) !== 0x65) break;
  }
  return end;
}

/** The end of the number at `at`: `0x1f`, `1`, `.5`, `1.5e-3`; `at` where there is none. */
function numberEnd(text: ByteString, at: number, stretch: number): number {
  if (text.charCodeAt(at) === 0x30 && (text.charCodeAt(at + 1) | 0x20) === 0x78) {
    let end = at + 2;
    while (end < stretch && (isDigit(text.charCodeAt(end)) || isHex(text.charCodeAt(end)))) end++;
    if (end > at + 2) return end;
  }
  let end = digitsEnd(text, at, stretch);
  if (text.charCodeAt(end) === 0x2e) {
    const fraction = digitsEnd(text, end + 1, stretch);
    // MySQL reads `1.e0`, too.
    const isExponent = (text.charCodeAt(end + 1) | 0x20) === 0x65;
    if (fraction > end + 1 || (isExponent && end > at)) end = fraction;
  }
  if (end === at || (text.charCodeAt(end) | 0x20) !== 0x65) return end;
  const sign = text.charCodeAt(end + 1);
  const from = sign === 0x2b || sign === 0x2d ? end + 2 : end + 1;
  const exponent = digitsEnd(text, from, stretch);
  return exponent > from ? exponent : end;
}

function digitsEnd(text: ByteString, from: number, to: number): number {
  let end = from;
  while (end < to && isDigit(text.charCodeAt(end))) end++;
  return end;
}

function isBlank(code: number): boolean {
  return code <= 0x20 || code === 0xa0;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

function isHex(code: number): boolean {
  return (code >= 0x61 && code <= 0x66) || (code >= 0x41 && code <= 0x46);
}
