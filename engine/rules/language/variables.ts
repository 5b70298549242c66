/** The grammar of target lists: `A|B:key|&C|!D:/re/|XML:/*`. Names are not looked up here. */

import type { ByteString } from '../../../base/byte-string.ts';
import { seclangLimits } from '../../../base/rule-limits.ts';
import type { Selector, VariableExpression } from './ast.ts';
import { quoteForMessage, type Report } from './diagnostic.ts';
import { findClosingQuote, unescapeQuotes, wordSpan, wordToken, type Word } from './words.ts';

/** What stands between two targets; a key that holds one is written in quotes. */
const separators = '|,';

/**
 * Reads a target list. Errors: reported; null when nothing usable remains of the list.
 * Source: ModSecurity 2.9 msre_parse_generic and 3 seclang-scanner: a comma parts targets as `|`.
 */
export function parseVariables(word: Word, report: Report): VariableExpression[] | null {
  const { text } = word;
  const found: VariableExpression[] = [];
  let failed = false;
  let count = 0;
  const lastSlash = lastClosingSlash(text);
  let at = 0;
  while (at <= text.length) {
    const end = endOfVariable(text, at, lastSlash);
    const [from, to] = trim(text, at, end);
    const variable = parseVariable(word, from, to, report);
    if (variable === null) failed = true;
    else found.push(variable);
    at = end + 1;
    count += 1;
    if (count > seclangLimits.variablesMax) {
      const message = `more than ${seclangLimits.variablesMax} targets in one list`;
      report('error', 'too-many-variables', message, wordSpan(word, from, to));
      return null;
    }
  }
  return failed ? null : found;
}

/** Offset of the separator that ends the target at `start`, or the end of the text. */
function endOfVariable(text: ByteString, start: number, lastSlash: number): number {
  let at = start;
  while (at < text.length && text[at] !== ':' && !separators.includes(text[at] ?? '')) at += 1;
  if (text[at] !== ':') return at;
  const selector = at + 1;
  if (text[selector] === "'") {
    const close = findClosingQuote(text, selector);
    if (close >= 0) at = close;
  } else if (text[selector] === '/' && !isXml(text.slice(start, selector - 1))) {
    const close = selector < lastSlash ? findClosingSlash(text, selector) : -1;
    if (close >= 0) at = close;
  }
  while (at < text.length && !separators.includes(text[at] ?? '')) at += 1;
  return at;
}

function isXml(name: ByteString): boolean {
  return /^[ \t]*[!&]?xml$/i.test(name);
}

/** Offset of the last slash that may end an expression; spares a search from every opening one. */
function lastClosingSlash(text: ByteString): number {
  for (let at = text.length - 1; at >= 0; at -= 1) {
    if (text[at] !== '/') continue;
    if (at + 1 < text.length && !separators.includes(text[at + 1] ?? '')) continue;
    const escapes = /\\*$/.exec(text.slice(Math.max(0, at - 64), at))?.[0].length ?? 0;
    if (escapes % 2 === 0) return at;
  }
  return -1;
}

/** The slash that ends the expression at `open`: the first one that ends its target too. */
function findClosingSlash(text: ByteString, open: number): number {
  for (let at = open + 1; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (
      text[at] === '/' &&
      (at + 1 === text.length || separators.includes(text[at + 1] ?? ''))
    )
      return at;
  }
  return -1;
}

function parseVariable(
  word: Word,
  from: number,
  to: number,
  report: Report,
): VariableExpression | null {
  const { text } = word;
  const span = wordSpan(word, from, to);
  const mark = from < to ? (text[from] ?? '') : '';
  const nameStart = mark === '!' || mark === '&' ? from + 1 : from;
  let nameEnd = nameStart;
  while (nameEnd < to && /[A-Za-z0-9_]/.test(text[nameEnd] ?? '')) nameEnd += 1;
  const shown = quoteForMessage(text.slice(from, to));
  if (nameEnd === nameStart) {
    report('error', 'expected-variable', `expected a variable name, got ${shown}`, span);
    return null;
  }
  const name = wordToken(word, nameStart, nameEnd);
  const base = { name, count: mark === '&', exclusion: mark === '!', span };
  if (nameEnd === to) return { ...base, selector: { kind: 'none' } };
  if (text[nameEnd] !== ':' && text[nameEnd] !== '.') {
    report('error', 'expected-selector', `expected ":" after the name in ${shown}`, span);
    return null;
  }
  const selector = parseSelector(word, name.text, nameEnd + 1, to, report);
  return selector === null ? null : { ...base, selector };
}

function parseSelector(
  word: Word,
  name: ByteString,
  from: number,
  to: number,
  report: Report,
): Selector | null {
  const text = word.text.slice(from, to);
  const span = wordSpan(word, from, to);
  if (text === '') {
    report('error', 'empty-selector', 'the selector after ":" is empty', span);
    return null;
  }
  const isQuoted = text.startsWith("'");
  if (isQuoted && findClosingQuote(text, 0) !== text.length - 1) {
    report('error', 'unterminated-quote', "a quoted selector must end with its ' quote", span);
    return null;
  }
  const inner = isQuoted ? unescapeQuotes(text.slice(1, -1)) : text;
  const innerSpan = isQuoted ? wordSpan(word, from + 1, to - 1) : span;
  if (isXml(name)) return { kind: 'xpath', text: inner, span: innerSpan };
  if (inner.length > 1 && inner.startsWith('/') && inner.endsWith('/')) {
    return { kind: 'regex', text: inner.slice(1, -1), span: innerSpan };
  }
  return { kind: 'literal', text: inner, span: innerSpan };
}

function trim(text: ByteString, start: number, end: number): [number, number] {
  let from = start;
  let to = end;
  while (from < to && /\s/.test(text[from] ?? '')) from += 1;
  while (to > from && /\s/.test(text[to - 1] ?? '')) to -= 1;
  return [from, to];
}
