/**
 * Reads the boundary out of a Content-Type line. Of form-data: whether all backends read one: PHP,
 * which looks for the word, and those that read parameters as RFC 2045 writes them (Express, Flask,
 * Django, Go, .NET); `test/backends` compares this with them. Of other types: what all readers
 * find.
 */

import type { ByteString } from '../../base/byte-string.ts';
import { valueLimits } from '../../base/rule-limits.ts';
import { charsetsOfWords } from './encoded-words.ts';

/**
 * `boundary`: all read this one. `differs`: some read another one, or other characters. `unknown`:
 * not written in the way that all read.
 */
export type AlikeReading =
  | { readonly kind: 'boundary'; readonly boundary: ByteString }
  | { readonly kind: 'differs' | 'unknown' };

const typePattern = /^multipart\/[0-9a-z.+-]+ ?/i;
/** `; name=token` or `; name="text"`, with quoted pairs; the blanks in front are captured. */
const parameterPattern = new RegExp(
  [
    '( *); *',
    '([!#$&+\\-.0-9A-Z^_`a-z|~]+)=',
    "(?:([!#$%&'*+\\-.0-9A-Z^_`a-z|~=]+)",
    '|"((?:[^"\\\\\\x00-\\x1f\\x7f]|\\\\[\\x20-\\x7e])*)")',
  ].join(''),
  'y',
);
const endPattern = /;? *$/y;
/** No reader wants quotes for these. */
const tokenPattern = /^[0-9A-Za-z'+_\-.=]+$/;
/** Characters of RFC 2046, all of which may stand in quotes. */
const quotedPattern = /^[0-9A-Za-z'()+_,\-./:=? ]*[0-9A-Za-z'()+_,\-./:=?]$/;
/** Parameters that name how characters are written. Some backends decode fields by them. */
const charsetPattern = /charset[*0-9]*\s*=\s*["']?([^\s"';,]*)/gi;
/** UTF-8, and charsets of one byte a character, of which the lower half is ASCII. */
const byteCharset = new RegExp(
  [
    '^(?:utf[-_]?8(?:mb4)?|(?:us-)?ascii|latin-?\\d|iso[-_]?8859[-_]\\d\\d?|(?:windows-|cp)125\\d',
    '|koi8-(?:[rtu]|ru)|tis-?620|(?:windows-|cp)874|(?:x-)?mac(?:intosh|-?(?:roman|cyrillic))',
    '|(?:cp|ibm)-?(?:437|737|775|85[0257-8]|86\\d))$',
  ].join(''),
  'i',
);
/** Those of several bytes that write ASCII characters as ASCII does. */
const severalBytesCharset = new RegExp(
  [
    '^(?:gbk|gb2312|gb18030|big5(?:-hkscs)?|euc-(?:kr|jp|tw)|shift[_-]jis|(?:x-)?sjis',
    '|ks_c_5601-1987|windows-(?:31j|936|949)|(?:cp|ms)_?9(?:32|36|49|50))$',
  ].join(''),
  'i',
);

/** What programs write that have no charset: nobody decodes by it. */
const noCharset = /^(?:|binary|none|null|undefined)$/i;

/** True for a charset whose ASCII characters are the bytes of ASCII. */
export function isAsciiCharset(charset: ByteString): boolean {
  return byteCharset.test(charset) || severalBytesCharset.test(charset);
}

/** True where, in addition, no byte of another character looks like ASCII. */
export function isByteCharset(charset: ByteString): boolean {
  return byteCharset.test(charset);
}

const differs: AlikeReading = { kind: 'differs' };
const unknown: AlikeReading = { kind: 'unknown' };

/** Reads a Content-Type of any multipart type. Cost: linear. Source: RFC 2045, RFC 2046. */
export function readAlike(contentType: ByteString): AlikeReading {
  if (contentType.length > valueLimits.multipartContentTypeBytesMax) return unknown;
  for (const [, charset] of contentType.matchAll(charsetPattern)) {
    if (!isAsciiCharset(charset!)) return differs;
  }
  const type = typePattern.exec(contentType);
  if (type === null) return unknown;
  const boundary = readParameters(contentType, type[0].length);
  if (boundary === null) return unknown;
  return asPhp(contentType) === boundary ? { kind: 'boundary', boundary } : differs;
}

/** The one parameter `boundary` of a well-formed list; null where readers take lists otherwise. */
function readParameters(contentType: ByteString, start: number): ByteString | null {
  const names = new Set<string>();
  let boundary: ByteString | null = null;
  let at = start;
  // Blanks after a boundary without quotes are part of it to PHP.
  let blanksCount = false;
  while (names.size < valueLimits.multipartContentTypeParametersMax) {
    parameterPattern.lastIndex = at;
    const found = parameterPattern.exec(contentType);
    if (found === null) break;
    at = parameterPattern.lastIndex;
    const [, blanks = '', name = '', token, quoted] = found;
    if (blanksCount && blanks !== '') return null;
    const lower = name.toLowerCase();
    if (names.has(lower)) return null;
    names.add(lower);
    blanksCount = lower === 'boundary' && token !== undefined;
    if (lower !== 'boundary') {
      // Readers that want quotes here find no parameter at all.
      if (token?.includes('=') === true) return null;
      continue;
    }
    const pattern = token === undefined ? quotedPattern : tokenPattern;
    boundary = token ?? quoted!;
    if (!pattern.test(boundary)) return null;
    if (boundary.length > valueLimits.multipartBoundaryBytesMax) return null;
  }
  endPattern.lastIndex = at;
  return endPattern.test(contentType) ? boundary : null;
}

/**
 * PHP takes what follows the first `=` after the first `boundary`, in lower case if it stands so
 * anywhere, up to a comma or a semicolon.
 */
function asPhp(contentType: ByteString): ByteString {
  let word = contentType.indexOf('boundary');
  if (word < 0) word = contentType.toLowerCase().indexOf('boundary');
  const equals = contentType.indexOf('=', word);
  if (word < 0 || equals < 0) return '';
  const value = contentType.slice(equals + 1);
  if (value.startsWith('"')) return value.slice(1, value.indexOf('"', 1));
  return /^[^,;]*/.exec(value)![0];
}

/**
 * `none`: no reader finds parts. `differs`: they may find other ones. Else the boundary. Source:
 * RFC 2046 section 5.1.1; parameters without quotes as mail and DICOM clients write them.
 */
export type PartsReading =
  | { readonly kind: 'boundary'; readonly boundary: ByteString }
  | { readonly kind: 'none' | 'differs' };

const mixedType = /^multipart\/(?!form-data *(?:;|$))[!#$&+\-.0-9^_a-z]+ *(?=;|$)/i;
const parameter =
  /[ \t]*;[ \t]*(?:([!#$&+\-.0-9A-Z^_a-z]+\*?)=(?:"((?:[^"\\]|\\.)*)"|([^\s;",]*)))?/y;
const boundaryPattern = /^[0-9A-Za-z'()+_,\-./:=? ]*[0-9A-Za-z'()+_,\-./:=?]$/;

/** Reads the boundary of a multipart type other than form-data. Cost: linear. */
export function readParts(contentType: ByteString): PartsReading {
  if (!/^multipart\//i.test(contentType)) return { kind: 'none' };
  if (contentType.length > valueLimits.multipartContentTypeBytesMax) return { kind: 'differs' };
  const type = mixedType.exec(contentType);
  if (type === null) return { kind: 'none' };
  const words = contentType.match(/boundary/gi)?.length ?? 0;
  if (words === 0) return { kind: 'none' };
  let boundary: ByteString | null = null;
  let at = type[0].length;
  while (at < contentType.length) {
    parameter.lastIndex = at;
    const found = parameter.exec(contentType);
    if (found === null) return { kind: 'differs' };
    at = parameter.lastIndex;
    const [, name = '', quoted, token] = found;
    if (name.toLowerCase() !== 'boundary') continue;
    if (boundary !== null) return { kind: 'differs' };
    boundary = quoted ?? token ?? '';
  }
  if (boundary === null || !boundaryPattern.test(boundary)) return { kind: 'differs' };
  // Some readers end a boundary at the first `=` or take the word that stands inside of it.
  const inside = boundary.match(/boundary=/gi)?.length ?? 0;
  const tooLong = boundary.length > valueLimits.multipartBoundaryBytesMax;
  return inside > 0 || tooLong ? { kind: 'differs' } : { kind: 'boundary', boundary };
}

/**
 * False where a part names itself in an encoding that some backend decodes: busboy reads
 * `filename*=utf-16le''…`, and base64; Tomcat words of mail. Source: RFC 8187 section 3.2; RFC
 * 2047.
 */
export function showsItsNames(disposition: ByteString): boolean {
  if (!showsItsWords(disposition)) return false;
  if (!disposition.includes('*')) return true;
  for (const [, charset = ''] of disposition.matchAll(/\*[ \t]*=[ \t]*"?([^"';, \t]*)'/g)) {
    if (charset !== '' && !isAsciiCharset(charset)) return false;
  }
  return true;
}

/** False where words of mail in a name do not show their characters once they are decoded. */
export function showsItsWords(name: ByteString): boolean {
  return charsetsOfWords(name).every(isAsciiCharset);
}

/** False where the content does not show its characters: in UTF-7 and what is not ASCII either. */
export function showsItsCharacters(contentType: ByteString, isWide: boolean): boolean {
  for (const [, charset = ''] of contentType.matchAll(/charset\*?\s*=\s*["']?([^\s"';,]*)/gi)) {
    if (isAsciiCharset(charset) || noCharset.test(charset)) continue;
    if (!isWide || !/^utf-?(?:16|32)(?:[lb]e)?$/i.test(charset)) return false;
  }
  return true;
}
