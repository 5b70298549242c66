/**
 * Tells code that a text is about from code that may run: languages parse a whole program before
 * they run it, so what makes the text no program makes the code in it harmless. Pure.
 */

import type { ByteString } from '../../base/byte-string.ts';
import { actsInString } from './own-code.ts';
import { verbsAfter } from './verbs-after.table.ts';

/** Bytes of a call that are read. */
const callBytesMax = 400;
/** What is bound to a value: a call or a member of it. */
const bound = /\s{0,2}(?:\.\s{0,2}\w{1,40}\s{0,2})?[([]/y;

/** The end of the first call from an offset on, with what is bound to it; -1 for none. */
function endOfCall(text: ByteString, from: number): number {
  const last = Math.min(text.length, from + callBytesMax);
  let depth = 0;
  let quote = '';
  for (let at = from; at < last; at++) {
    const char = text.charAt(at);
    if (quote !== '') {
      if (char === '\\') at++;
      else if (char === quote) quote = '';
    } else if (char === '"' || char === "'" || char === '`') quote = char;
    else if (char === '(' || char === '[' || char === '{') depth++;
    else if (char === ')' || char === ']' || char === '}') {
      if (--depth < 0) return -1;
      bound.lastIndex = at + 1;
      if (depth === 0 && !bound.test(text)) return at + 1;
    }
  }
  return -1;
}

const words = `(?:${verbsAfter.call})`;
/** In Lua a statement may follow: a word, and `=`, a bracket, a string, or a member. */
const ends = String.raw`(?=[ \t]{1,4}(?!and\b|or\b)[a-z0-9$]|[?!](?:\s|$)|\.(?:$|\s{1,4}\w{1,20} [a-z])|, \w{1,20} [a-z]|$)`;
const afterValue = {
  any: new RegExp(String.raw`[ \t]{1,4}${words}${ends}`, 'y'),
  withIs: new RegExp(String.raw`[ \t]{1,4}(?:${words}|is|isn't)${ends}`, 'y'),
  // A word cannot follow a name in the same line.
  script: new RegExp(
    String.raw`[ \t]{1,4}(?:${words}|is|isn't)${ends}|;[ \t]{1,4}${words}[ \t]{1,4}(?!in\b|instanceof\b)\w`,
    'y',
  ),
  // Groovy reads `f() returns a list` as calls; it cannot read this, nor a word of its own.
  groovy: new RegExp(
    String.raw`[ \t]{1,4}throws[ \t]{1,4}\w|[ \t]{1,4}(?:does|did|is|was|do|can|wo|ca)n't\b[^'"\x60\n]{0,400}$|` +
      String.raw`;[ \t]{1,4}${words}, (?:but|and|so) \w{1,32} \w`,
    'y',
  ),
} as const;
const afterQuoted = /`[ \t]{1,4}is[ \t]{1,4}[a-z]/y;

/**
 * Whether the call at an offset is the subject of a sentence in words that no program of the
 * language has after a call.
 */
export function isSaidOf(
  text: ByteString,
  start: number,
  language: keyof typeof afterValue,
): boolean {
  const end = endOfCall(text, wordAt(text, start));
  if (end < 0) return false;
  const pattern = afterValue[language];
  const quoted = text.charAt(end) === '`';
  pattern.lastIndex = quoted ? end + 1 : end;
  if (pattern.test(text)) return true;
  // Python has `is`, but no backtick.
  afterQuoted.lastIndex = end;
  return language === 'any' && afterQuoted.test(text);
}

/** Where the first word of a match begins, after what it has before that. */
function wordAt(text: ByteString, start: number): number {
  let at = start;
  while (at < start + 16 && /\W/.test(text.charAt(at))) at++;
  return at;
}

const fenceLine = /(?:^|\n) {0,3}(```|~~~)([a-z+#]{0,16})[ \t]{0,8}(?=\n)/g;
/** Names of languages that no variable has: a program that begins with one fails. */
const languages: ReadonlySet<string> = new Set(
  'python python3 javascript typescript php java ruby bash rust kotlin lua'.split(' '),
);
const fencedBytesMax = 4096;
/** What template engines compute whatever stands around it. */
const computed = /[{<][{%#=?!]|[$#@*%]\{/;

/**
 * Whether the code at an offset begins a line in a block of code in Markdown after words: three
 * backticks end a program, and so does `~~~python`. What may hide the fence in a string or a
 * comment of a program is not among the words, nor does the code leave a string that has the fence.
 */
export function isFenced(text: ByteString, start: number): boolean {
  const at = wordAt(text, start);
  if (at > fencedBytesMax) return false;
  const before = text.slice(0, at + 1);
  const line = before.slice(before.lastIndexOf('\n') + 1);
  if (!/^[\w \t.$=]*$/.test(line) || computed.test(before)) return false;
  if (actsInString(text, at + 1)) return false;
  let open = '';
  for (const { 1: fence = '', 2: language = '', index } of before.matchAll(fenceLine)) {
    if (open === '') {
      if (/["'`/<=(#]/.test(text.slice(0, index))) return false;
      if (fence === '~~~' && !languages.has(language)) return false;
      open = fence;
    } else if (fence === open) return false;
  }
  return open !== '';
}
