/**
 * Reads a part's Content-Disposition: `form-data` with name, filename and filename*, and nothing
 * else. Decides whether every backend reads the part the same way; where one may not, lists all
 * names that one could read. What ModSecurity refuses is an error or a flag.
 */

import type { ByteString } from '../../base/byte-string.ts';
import { valueLimits } from '../../base/rule-limits.ts';
import { decodeEncodedWords } from './encoded-words.ts';

/** What a part calls itself; empty texts for what it does not say. */
export interface Disposition {
  name: ByteString;
  fileName: ByteString;
  /** RFC 5987 value of filename*, decoded; empty when there is none. */
  extendedFileName: ByteString;
  /** Single quotes where double ones belong. */
  invalidQuoting: boolean;
  /** What is wrong first; null when nothing is. */
  failure: string | null;
  /** `either` where backends differ on whether it is a field or a file, or on its names. */
  kind: 'field' | 'file' | 'either';
  /** All backends read the same of it: one kind and one name. */
  alike: boolean;
  /** For `either`: further names that a backend may read; empty otherwise. */
  otherNames: readonly ByteString[];
}

const tokenPattern = /[!#$%&'*+\-.0-9A-Z^_`a-z{|}~]*/y;
const parameterPattern = /[\t ]*([^=\t ]+)[\t ]*=[\t ]*/y;
/** Charset and language are not looked at, but the charset must be there. */
const extendedPattern =
  /^[\w!#$%&+\-^`{}~]+'[A-Za-z0-9-]*'((?:[\w!#$&+\-.^`|~]|%[0-9A-Fa-f]{2})*)$/;
const commonCharset = /^(?:utf-8|iso-8859-1)'/i;
const blanksPattern = /[\t ]*/y;

/**
 * One parameter that all backends cut out alike: a token, or a text in quotes without quotes,
 * backslashes and control characters; a backslash before a letter or a digit escapes nothing, and
 * old browsers send paths. Source: RFC 7578 section 4.2.
 */
const alikePattern = new RegExp(
  [
    ' ?; *([!#$&+\\-.0-9A-Z^_`a-z|~]+)(\\*?)=',
    '(?:"((?:[^"\\\\\\0-\\x1f\\x7f]|\\\\(?=[0-9A-Za-z]))*)"',
    "|([!#$&+\\-.0-9A-Z^_`a-z|~][!#$&+\\-.0-9A-Z^_`a-z|~'%]*))",
  ].join(''),
  'y',
);
/** How parsers may cut a parameter's value out of the header: with and without escapes. */
const valuePatterns: readonly RegExp[] = [
  /=[\t ]*"((?:[^"\\]|\\[^])*)"?/g,
  /=[\t ]*"([^"]*)"?/g,
  /=[\t ]*([^"; \t][^;]*)/g,
];

/** Where a parser loses count of the quotes, a value ends at the semicolon, quotes and all. */
const untilSemicolon = /=[\t ]*([^; \t][^;]*)/g;

/** Reads the value. Never throws; names found before a mistake are kept. Source: RFC 7578. */
export function readDisposition(value: ByteString): Disposition {
  const found: Disposition = {
    name: '',
    fileName: '',
    extendedFileName: '',
    invalidQuoting: false,
    failure: null,
    kind: kindOf(value),
    alike: false,
    otherNames: [],
  };
  found.alike = found.kind !== 'either';
  readParameters(value, found);
  if (found.kind !== 'either') return found;
  const names = possibleNames(value);
  names.delete(found.name);
  if (names.size > valueLimits.multipartPartNamesMax) fail(found, 'too many names');
  found.otherNames = [...names].slice(0, valueLimits.multipartPartNamesMax);
  return found;
}

/** What all backends take the part for; `either` where some could differ. Cost: linear. */
function kindOf(value: ByteString): Disposition['kind'] {
  if (!value.startsWith('form-data')) return 'either';
  const names = new Set<string>();
  let empty = false;
  let at = 9;
  for (; names.size < valueLimits.multipartPartParametersMax; at = alikePattern.lastIndex) {
    alikePattern.lastIndex = at;
    const found = alikePattern.exec(value);
    if (found === null) break;
    const [, name = '', star = '', quoted, token] = found;
    const key = name.toLowerCase() + star;
    if (names.has(key)) return 'either';
    names.add(key);
    if (!isAlike(name + star, quoted, token)) return 'either';
    if (key === 'filename') empty = quoted === '';
  }
  const rest = value.slice(at);
  if (!names.has('name') || (empty && names.has('filename*'))) return 'either';
  // Only PHP does not know file names of RFC 5987 alone; busboy takes no semicolon after a file.
  if (names.has('filename')) return rest === '' ? 'file' : 'either';
  return !names.has('filename*') && / ?;?$/y.test(rest) ? 'field' : 'either';
}

/** Whether all backends make the same of one parameter of that name. */
function isAlike(name: string, quoted: string | undefined, token: string | undefined): boolean {
  const value = quoted ?? token ?? '';
  if (name === 'filename*' && quoted !== undefined) return false;
  if (name === 'filename*') return commonCharset.test(value) && extendedPattern.test(value);
  if (/\*|^(?:file)?name$/i.test(name) && name !== 'name' && name !== 'filename') return false;
  if (name === 'filename') return true;
  // A name with a backslash is not what a browser sends; Tomcat decodes words of mail in it.
  if (name === 'name' && value.includes('=?')) return false;
  return !value.includes('\\') && !(name === 'name' && token?.includes('%') === true);
}

/** Everything that one of several readings takes for a value. */
function possibleNames(value: ByteString): Set<ByteString> {
  const names = new Set<ByteString>();
  const patterns = value.includes('\\') ? [...valuePatterns, untilSemicolon] : valuePatterns;
  for (const pattern of patterns) {
    for (const match of value.matchAll(pattern)) {
      const text = match[1]!.trim();
      names.add(text);
      names.add(decodeEncodedWords(text));
      if (text.includes('\\')) names.add(text.replaceAll(/\\([^])/g, '$1'));
    }
  }
  if (value.includes('\\')) for (const text of valuesByQuotes(value)) names.add(text);
  names.delete('');
  return names;
}

/**
 * Django 3.2 ends a parameter at the first semicolon after an even number of quotes, escaped
 * ones counted too, and takes quotes off a value that has them at both ends. Cost: linear.
 */
function valuesByQuotes(value: ByteString): ByteString[] {
  const found: ByteString[] = [];
  let start = 0;
  let even = true;
  for (let at = 0; at <= value.length; at++) {
    if (value[at] === '"') even = !even;
    if (at < value.length && (value[at] !== ';' || !even)) continue;
    const equals = value.indexOf('=', start);
    if (equals >= 0 && equals < at) found.push(withoutQuotes(value.slice(equals + 1, at).trim()));
    start = at + 1;
  }
  return found;
}

function withoutQuotes(text: ByteString): ByteString {
  if (text.length < 2 || !text.startsWith('"') || !text.endsWith('"')) return text;
  return text.slice(1, -1).replaceAll('\\\\', '\\').replaceAll('\\"', '"');
}

function readParameters(value: ByteString, found: Disposition): void {
  if (!value.startsWith('form-data')) return fail(found, 'type');
  let at = skipBlanks(value, 9);
  if (at === value.length) return;
  if (value[at] !== ';') return fail(found, 'separator');
  at++;
  while (at < value.length) {
    parameterPattern.lastIndex = at;
    const parameter = parameterPattern.exec(value);
    if (parameter === null) return fail(found, 'parameter');
    at = parameterPattern.lastIndex;
    if (at === value.length) return fail(found, 'value missing');
    const text = readText(value, at, found, parameter[1] === 'filename*');
    if (text === null) return fail(found, 'quoting');
    if (!keep(found, parameter[1]!, text.text)) return;
    at = skipBlanks(value, text.end);
    if (at === value.length) return;
    if (value[at] !== ';') {
      const previous = value[text.end - 1];
      if (previous === '"' || previous === "'") found.invalidQuoting = true;
      return fail(found, 'separator');
    }
    at++;
  }
}

/** A quoted string or a token; null when a quoted one ends in a backslash or nowhere. */
function readText(
  value: ByteString,
  start: number,
  found: Disposition,
  extended: boolean,
): { text: ByteString; end: number } | null {
  const quote = value[start]!;
  if (quote !== '"' && quote !== "'") {
    tokenPattern.lastIndex = start;
    const token = tokenPattern.exec(value)![0];
    if (token.includes("'") && !extended) found.invalidQuoting = true;
    return { text: token, end: start + token.length };
  }
  if (quote === "'") found.invalidQuoting = true;
  let text = '';
  let at = start + 1;
  for (; at < value.length && value[at] !== quote; at++) {
    if (value[at] === '\\') {
      if (at + 1 === value.length) return null;
      // Only the quote and the backslash can be escaped; old browsers send paths unescaped.
      if (value[at + 1] === quote || value[at + 1] === '\\') at++;
    }
    text += value[at];
  }
  return at < value.length ? { text, end: at + 1 } : null;
}

/**
 * False when the parameter is ill-formed or there twice. One whose first value is empty
 * may come again, as in ModSecurity: the part is `either` then.
 */
function keep(found: Disposition, name: string, text: ByteString): boolean {
  if (name === 'filename*') {
    const extended = decodeExtended(text);
    if (extended === null || found.extendedFileName !== '') {
      fail(found, 'filename*');
      return false;
    }
    found.extendedFileName = extended;
    return true;
  }
  if (name !== 'name' && name !== 'filename') {
    fail(found, 'unknown parameter');
    return true;
  }
  const field = name === 'name' ? 'name' : 'fileName';
  if (found[field] !== '') {
    fail(found, `duplicate ${name}`);
    return false;
  }
  found[field] = text;
  return true;
}

/** RFC 5987: charset'language'percent-encoded. */
function decodeExtended(text: ByteString): ByteString | null {
  const match = extendedPattern.exec(text);
  if (match === null) return null;
  return match[1]!.replace(/%([0-9A-Fa-f]{2})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
}

function skipBlanks(value: ByteString, start: number): number {
  blanksPattern.lastIndex = start;
  blanksPattern.exec(value);
  return blanksPattern.lastIndex;
}

function fail(found: Disposition, what: string): void {
  found.failure ??= `Multipart: Invalid Content-Disposition header (${what}).`;
}
