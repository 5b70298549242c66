/**
 * Tells code that a text quotes from code that may run: no program of Python, Lua or JavaScript has
 * three words in a row, and none of a text is run that has them before the code, outside of strings
 * and comments. Pure.
 */

import type { ByteString } from '../../base/byte-string.ts';

/** Bytes before the code that are read. */
const bytesMax = 2048;
/** What a program begins in: the text is put into its code, or into a string. */
const quotesBefore = ['', '"', "'", '`'] as const;
/**
 * What is not read: escapes, comments and strings of further sorts, in which words may stand, and
 * templates, which are computed whatever stands around them.
 */
const unread = /\\|\/\*|(?<!:)\/\/|--|#(?!\d)|"""|'''|\[={0,4}\[|<<|<[?%!]|\{\{|[$@*%]\{/;
/** Words that a program has beside others. Source: Python 3.13, ECMA-262, Lua 5.4: keywords. */
const keywords = new Set(
  (
    'and as assert async await break case catch class const continue def default del delete do elif ' +
    'else elseif end enum except export extends false finally for from function get global goto if ' +
    'implements import in instanceof interface is lambda let local match new nil none nonlocal not ' +
    'null of or package pass print private protected public raise repeat return set static super ' +
    'switch then this throw true try type typeof until using var void while with yield'
  ).split(' '),
);
/** A name that is assigned to, or nothing, before code in its line. */
const beginsLine = /^\s{0,64}(?:[\w.]{1,64}\s?=\s?)?\W?$/;
/** In a line, words; a slash before them may begin a regular expression. */
const wordsOfLine = /(?:^|\n)[^\n/]*/g;
const threeWords =
  /(?<![\w.$-])([a-z]{2,24})(?=[ \t]{1,4}([a-z]{2,24})[ \t]{1,4}([a-z]{2,24})(?![\w(]))/gi;

/** Whether code at an offset begins a line after a sentence that makes the text no program. */
export function followsSentence(text: ByteString, offset: number): boolean {
  if (offset > bytesMax) return false;
  const before = text.slice(0, offset);
  const line = before.slice(before.lastIndexOf('\n') + 1);
  if (line === before || !beginsLine.test(line)) return false;
  if (unread.test(before) || !hasSentence(before)) return false;
  return quotesBefore.every((quote) => !mayRun(before, quote));
}

/** Whether the end of a text is code of a program, where its start lies in a quote or in none. */
function mayRun(before: ByteString, quoteBefore: string): boolean {
  let quote = quoteBefore;
  let from = 0;
  for (let at = 0; at < before.length; at++) {
    const char = before.charAt(at);
    if (quote !== '') {
      if (char !== quote) continue;
      quote = '';
      from = at + 1;
    } else if (char === '"' || char === "'" || char === '`') {
      if (hasSentence(before.slice(from, at))) return false;
      quote = char;
    }
  }
  return quote === '' && !hasSentence(before.slice(from));
}

function hasSentence(code: ByteString): boolean {
  for (const [line] of code.matchAll(wordsOfLine)) {
    for (const [, ...words] of line.matchAll(threeWords)) {
      if (words.every((word) => !keywords.has(word.toLowerCase()))) return true;
    }
  }
  return false;
}
