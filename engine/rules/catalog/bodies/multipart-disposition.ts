/**
 * Owns reading a part's Content-Disposition: `form-data` with name, filename and filename*, and
 * nothing else. What other parsers may read differently is an error or a flag.
 */

import type { ByteString } from '../../../base/byte-string.ts';

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
}

const tokenPattern = /[!#$%&'*+\-.0-9A-Z^_`a-z{|}~]*/y;
const parameterPattern = /[\t ]*([^=\t ]+)[\t ]*=[\t ]*/y;
/** Charset and language are not looked at, but the charset must be there. */
const extendedPattern =
  /^[\w!#$%&+\-^`{}~]+'[A-Za-z0-9-]*'((?:[\w!#$&+\-.^`|~]|%[0-9A-Fa-f]{2})*)$/;
const blanksPattern = /[\t ]*/y;

/** Reads the value. Never throws; names found before a mistake are kept. Source: RFC 7578. */
export function readDisposition(value: ByteString): Disposition {
  const found: Disposition = {
    name: '',
    fileName: '',
    extendedFileName: '',
    invalidQuoting: false,
    failure: null,
  };
  if (!value.startsWith('form-data')) return fail(found, 'type');
  let at = skipBlanks(value, 9);
  if (at === value.length) return found;
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
    if (!keep(found, parameter[1]!, text.text)) return found;
    at = skipBlanks(value, text.end);
    if (at === value.length) return found;
    if (value[at] !== ';') {
      const previous = value[text.end - 1];
      if (previous === '"' || previous === "'") found.invalidQuoting = true;
      return fail(found, 'separator');
    }
    at++;
  }
  return found;
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

/** False when the parameter is unknown, ill-formed or there twice. */
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
    return false;
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

function fail(found: Disposition, what: string): Disposition {
  found.failure ??= `Multipart: Invalid Content-Disposition header (${what}).`;
  return found;
}
