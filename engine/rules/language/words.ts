/**
 * The arguments of a directive: where each begins and ends, its quotes and escapes, and the
 * way from a byte of the unescaped text back to the file.
 */

import type { ByteString } from '../../../base/byte-string.ts';
import type { Token } from './ast.ts';
import type { Report, SourceSpan } from './diagnostic.ts';
import { spanOf, type LogicalLine } from './logical-lines.ts';

/** One argument with its quotes taken off. */
export interface Word {
  readonly line: LogicalLine;
  readonly text: ByteString;
  /** Offset in the logical line of the text's first byte. */
  readonly start: number;
  /** Offset in the logical line of each byte of `text` and of its end; null: `start` + index. */
  readonly map: readonly number[] | null;
  readonly quote: '' | '"' | "'";
}

/** The span of [start, end) of a word's text. */
export function wordSpan(word: Word, start: number, end: number): SourceSpan {
  return spanOf(word.line, lineOffset(word, start), lineOffset(word, end));
}

/** [start, end) of a word's text as a token. */
export function wordToken(word: Word, start = 0, end = word.text.length): Token {
  return { text: word.text.slice(start, end), span: wordSpan(word, start, end) };
}

/** What differs between arguments; `index` counts from 0, the directive's name. */
export interface WordRules {
  /** `NAME:'a b'` may hold white space. */
  hasSelectors(directive: ByteString, index: number): boolean;
  /** The closing quote may be missing at the end of the line: a warning. */
  mayEndOpen(directive: ByteString, index: number): boolean;
}

/**
 * Splits a logical line at white space. In quotes, a backslash keeps its quote from ending the
 * argument and is dropped, and two backslashes are one, as Apache reads them (rules of CRS 3 are
 * written for that; CRS 4 writes \x5c); every other backslash stays and takes the next byte along.
 * Errors: null, and a report, when a quote does not end or something stands against its end.
 */
export function splitWords(line: LogicalLine, rules: WordRules, report: Report): Word[] | null {
  const words: Word[] = [];
  const { text } = line;
  let at = skipSpace(text, 0);
  while (at < text.length) {
    const quote = text[at];
    const name = words[0]?.text ?? '';
    const selectors = rules.hasSelectors(name, words.length);
    const isQuoted = quote === '"' || (quote === "'" && words.length > 0);
    const word = isQuoted ? readQuoted(line, at, quote) : readBare(line, at, selectors);
    if (word === null) {
      const mayEndOpen = quote === '"' && rules.mayEndOpen(name, words.length);
      const span = spanOf(line, at, at + 1);
      const message = `missing closing ${quote ?? ''} quote`;
      report(mayEndOpen ? 'warning' : 'error', 'unterminated-quote', message, span);
      return mayEndOpen ? [...words, openWord(line, at)] : null;
    }
    words.push(word.word);
    if (isQuoted && word.end < text.length && !isSpace(text, word.end)) {
      const span = spanOf(line, word.end, word.end + 1);
      report('error', 'text-after-quote', 'white space is missing after the closing quote', span);
      return null;
    }
    at = skipSpace(text, word.end);
  }
  return words;
}

interface ReadWord {
  readonly word: Word;
  /** Offset after the word and its closing quote. */
  readonly end: number;
}

/** A double-quoted word whose quote ends with the line. */
function openWord(line: LogicalLine, open: number): Word {
  const closed = { ...line, text: `${line.text}"` };
  const read = readQuoted(closed, open, '"') ?? readBare(line, open + 1, false);
  return { ...read.word, line };
}

function readQuoted(line: LogicalLine, open: number, quote: '"' | "'"): ReadWord | null {
  const { text } = line;
  const parts: ByteString[] = [];
  const dropped: number[] = [];
  let at = open + 1;
  let partStart = at;
  while (at < text.length && text[at] !== quote) {
    if (text[at] !== '\\') {
      at += 1;
      continue;
    }
    if (text[at + 1] === quote || text[at + 1] === '\\') {
      parts.push(text.slice(partStart, at));
      dropped.push(at);
      partStart = at + 1;
    }
    at += 2;
  }
  if (at >= text.length) return null;
  parts.push(text.slice(partStart, at));
  const start = open + 1;
  const map = dropped.length === 0 ? null : offsetsWithout(start, at, dropped);
  return { word: { line, text: parts.join(''), start, map, quote }, end: at + 1 };
}

/** Every offset of [start, end] but those in `dropped`, which is sorted. */
function offsetsWithout(start: number, end: number, dropped: readonly number[]): number[] {
  const offsets: number[] = [];
  let next = 0;
  for (let at = start; at <= end; at += 1) {
    if (dropped[next] === at) next += 1;
    else offsets.push(at);
  }
  return offsets;
}

function readBare(line: LogicalLine, start: number, quotedSelectors: boolean): ReadWord {
  const { text } = line;
  let at = start;
  while (at < text.length && !isSpace(text, at)) {
    if (quotedSelectors && text[at] === "'" && text[at - 1] === ':') {
      const close = findClosingQuote(text, at);
      at = close < 0 ? at : close;
    }
    at += 1;
  }
  return { word: { line, text: text.slice(start, at), start, map: null, quote: '' }, end: at };
}

/** Offset of the single quote that ends the one at `open`; -1 when there is none. */
export function findClosingQuote(text: ByteString, open: number): number {
  for (let at = open + 1; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === "'") return at;
  }
  return -1;
}

/** Takes the backslash off every `\'`; before anything else it stays, with what follows. */
export function unescapeQuotes(text: ByteString): ByteString {
  return text.includes("\\'")
    ? text.replace(/\\([^])/g, (all: string, next: string) => (next === "'" ? next : all))
    : text;
}

function lineOffset(word: Word, offset: number): number {
  return word.map === null ? word.start + offset : (word.map[offset] ?? word.start);
}

function isSpace(text: ByteString, at: number): boolean {
  const code = text.charCodeAt(at);
  return code === 0x20 || (code >= 0x09 && code <= 0x0d);
}

function skipSpace(text: ByteString, start: number): number {
  let at = start;
  while (at < text.length && isSpace(text, at)) at += 1;
  return at;
}
