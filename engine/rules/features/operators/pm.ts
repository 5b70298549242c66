/** The operators `pm` and `pmFromFile`: many words at once, letters without case. */

import type { ByteString } from '../../../../base/byte-string.ts';
import type { BindFailure, BoundOperator, OperatorDefinition } from '../../transaction/types.ts';
import { trimBlanks } from './operator-common.ts';
import { WordSearch } from './word-search.ts';

/** Matches when one of the words, separated by blanks, occurs in the value. */
export const pm: OperatorDefinition = {
  name: 'pm',
  summary: 'Matches when one of the words occurs in the value; `|41 42|` is bytes in hex.',
  example: 'SecRule REQUEST_HEADERS:User-Agent "@pm nikto sqlmap |6e 6d|ap" "id:1"',
  source: 'ModSecurity Reference Manual, Operators, pm; ModSecurity 2.9 parse_pm_content',
  argument: 'required',
  pure: true,
  captures: true,
  bind: (argument) => bindWords(pm, argument, parseWords(argument)),
};

/** As pm, with one phrase a line of a file; lines that begin with # are comments. */
export const pmFromFile: OperatorDefinition = {
  name: 'pmFromFile',
  aliases: ['pmf'],
  summary: 'As pm, with one phrase a line of a data file.',
  example: 'SecRule REQUEST_FILENAME "@pmFromFile lfi-os-files.data" "id:1"',
  source: 'ModSecurity Reference Manual, Operators, pmFromFile',
  argument: 'required',
  captures: true,
  bind: (argument, context) => {
    const text = context.readDataFile(trimBlanks(argument), context.file);
    if (text === null) return { failure: 'the data file does not exist or is not readable' };
    return bindWords(pmFromFile, argument, parseLines(text));
  },
};

function bindWords(
  definition: OperatorDefinition,
  argument: ByteString,
  words: readonly ByteString[],
): BoundOperator | BindFailure {
  if (words.length === 0 && definition === pm) return { failure: 'no word to look for' };
  // Built at the first use: where a prefilter rules values out, most word lists are never asked.
  let search: WordSearch | null = null;
  return {
    definition,
    argument,
    prefilter: { kind: 'words', words, caseless: true },
    evaluate: (value, _tx, captures) => {
      search ??= new WordSearch(words);
      const found = search.find(value);
      if (found !== null) captures?.push(found);
      return found !== null;
    },
  };
}

/** Phrases of a data file: no blank lines, no comments; only the line end is cut off. */
export function parseLines(text: ByteString): ByteString[] {
  const lines = text.split('\n').map((line) => line.replace(/\r+$/, ''));
  return lines.filter((line) => line !== '' && !/^[ \t\v\f]*#/.test(line));
}

const hexDigit = /[0-9A-Fa-f]/;
const escapable = new Set([':', ';', '\\', '"']);

/**
 * Words of an argument. What does not follow the notation of hex ranges and escapes is taken as
 * plain text, as ModSecurity does.
 */
export function parseWords(argument: ByteString): ByteString[] {
  let text = trimBlanks(argument);
  if (text.length > 1 && text.startsWith('"') && text.endsWith('"')) text = text.slice(1, -1);
  const words = parseNotation(text) ?? splitBlanks(argument);
  return words.filter((word) => word !== '');
}

function parseNotation(text: ByteString): ByteString[] | null {
  const words: ByteString[] = [];
  let word = '';
  for (let i = 0; i < text.length; i++) {
    const char = text.charAt(i);
    if (char === '|') {
      const end = text.indexOf('|', i + 1);
      const bytes = end < 0 ? null : readHex(text.slice(i + 1, end));
      if (bytes === null) return null;
      word += bytes;
      i = end;
    } else if (char === '\\') {
      i++;
      const escaped = text.charAt(i);
      if (!escapable.has(escaped)) return null;
      word += escaped;
    } else if (/[ \t\n\v\f\r]/.test(char)) {
      words.push(word);
      word = '';
    } else {
      word += char;
    }
  }
  words.push(word);
  return words;
}

/** Bytes of `41 42 43`; null where it is something else. */
function readHex(text: ByteString): ByteString | null {
  let digits = '';
  for (const char of text) {
    if (hexDigit.test(char)) digits += char;
    else if (char !== ' ') return null;
  }
  if (digits.length % 2 !== 0) return null;
  return Buffer.from(digits, 'hex').toString('latin1');
}

function splitBlanks(text: ByteString): ByteString[] {
  return text.split(/[ \t\n\v\f\r]+/);
}
