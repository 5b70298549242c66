/**
 * Opens texts of names and values: forms, queries of URLs, cookie strings, parts of multipart text.
 * Says whether a text is clean: then its leaves hold all that it says. Source: WHATWG URL, RFC
 * 6265, RFC 7578.
 */

import type { ByteString } from '../../../base/byte-string.ts';
import { decodePercent } from './escapes.ts';
import type { Leaves } from './leaves.ts';

/** Bytes that stand in an encoded form or URL. */
const cleanPattern = /^[\w.~!*()@:/?#&=%+,;$[\]|-]+$/;
const namePattern = /^[\w.~*@$%+[\]-]{0,128}=/;
const fieldPattern = /&[\w.~*@$%+[\]-]{1,128}=/;
const urlPattern = /^(?:[a-z][a-z0-9+.-]{1,15}:)?\/{1,2}[^\s?]{0,4096}\?/i;
const anyUrlPattern = /^[a-z][a-z0-9+.-]{1,15}:\/\/[^\s]/i;

/** What a text of fields is. */
export type FormReading = 'none' | 'clean' | 'beside';

/** Adds the fields of `a=1&b=2`. */
export function openForm(text: ByteString, leaves: Leaves, label = 'form'): FormReading {
  const isForm = namePattern.test(text.slice(0, 160)) && !isPadding(text);
  if (!isForm && !fieldPattern.test(text)) return 'none';
  addFields(text, '&', leaves, label);
  return cleanPattern.test(text) && !text.includes(';') && !text.includes('|') ? 'clean' : 'beside';
}

/** `=` at the end of base64 makes no form. */
function isPadding(text: ByteString): boolean {
  const equals = text.indexOf('=');
  return equals >= text.length - 2 && equals >= 8;
}

/** Adds the fields of `a=1; b=2`. */
export function openCookies(text: ByteString, leaves: Leaves): FormReading {
  if (!namePattern.test(text.slice(0, 160)) || !/;\s?[\w.-]{1,64}=/.test(text)) return 'none';
  addFields(text, ';', leaves, 'cookies');
  return 'beside';
}

/** Adds path and fields of a URL or of a path with a query. */
export function openUrl(text: ByteString, leaves: Leaves): FormReading {
  const query = urlPattern.exec(text)?.[0].length ?? -1;
  if (query < 0 && !anyUrlPattern.test(text)) return 'none';
  const clean = cleanPattern.test(text) ? 'clean' : 'beside';
  const hash = text.indexOf('#');
  if (hash >= 0) leaves.add('fragment', decodePercent(text.slice(hash + 1)));
  const end = hash < 0 ? text.length : hash;
  const path = text.slice(0, query < 0 ? end : Math.min(query - 1, end));
  const scheme = path.indexOf('://');
  const slash = path.indexOf('/', scheme < 0 ? 0 : scheme + 3);
  if (slash >= 0) leaves.add('path', decodePercent(path.slice(slash)));
  if (query >= 0 && query < end) {
    const fields = text.slice(query, end);
    if (namePattern.test(fields.slice(0, 160)) || fields.includes('&')) {
      addFields(fields, '&', leaves, 'query');
    } else leaves.add('query', decodePercent(fields.replaceAll('+', ' ')));
  }
  return clean;
}

function addFields(text: ByteString, separator: string, leaves: Leaves, label: string): void {
  let from = 0;
  while (from <= text.length) {
    const found = text.indexOf(separator, from);
    const end = found < 0 ? text.length : found;
    const field = text.slice(from, end);
    from = end + 1;
    const equals = field.indexOf('=');
    const name = equals < 0 ? '' : decodeField(field.slice(0, equals));
    const value = decodeField(field.slice(equals + 1));
    if (leaves.wants(name)) leaves.add(`${label} name`, name, 'name');
    if (leaves.wants(value)) leaves.add(name === '' ? label : `${label}.${name.trim()}`, value);
  }
}

function decodeField(text: ByteString): ByteString {
  return decodePercent(text.includes('+') ? text.replaceAll('+', ' ') : text);
}

/** The fields of a part's head and the blank line after them; or the blank line alone. */
const partField = String.raw`[!-9;-~]{1,64}[ \t]{0,4}:[^\r\n]{0,4096}\r?\n`;
const foldedLine = String.raw`[ \t][^\r\n]{0,4096}\r?\n`;
const partHead = new RegExp(
  String.raw`\r?\n(?:${partField}(?:${foldedLine}){0,8}){0,16}\r?\n`,
  'y',
);
const partNamePattern = /\bname="?([^"\r\n;]{0,128})/i;
const partsMax = 64;

/**
 * Adds heads and contents of the parts of a multipart body of any type; false if there are none.
 * Source: RFC 2046, section 5.1.1.
 */
export function openParts(text: ByteString, leaves: Leaves): boolean {
  if (!text.startsWith('--')) return false;
  const boundary = text.slice(0, Math.max(0, text.search(/\r?\n/)));
  if (boundary.length < 3) return false;
  let count = 0;
  let at = 0;
  for (; at >= 0 && count < partsMax; at = text.indexOf(boundary, at)) {
    at += boundary.length;
    partHead.lastIndex = at;
    const head = partHead.exec(text)?.[0];
    if (head === undefined) continue;
    count++;
    at = partHead.lastIndex;
    const next = text.indexOf(boundary, at);
    const name = partNamePattern.exec(head)?.[1] ?? '';
    leaves.add('part header', head.trim());
    const content = text.slice(at, next < 0 ? text.length : next).trimEnd();
    leaves.add(name === '' ? 'part' : `part.${name}`, content);
  }
  // The rest of many parts is one text.
  if (at >= 0) leaves.add('part', text.slice(at));
  return count > 0;
}
