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
const urlPattern = /^(?:[a-z][a-z0-9+.-]{1,15}:)?\/{1,2}[^\s?]{0,4096}\?/i;
const anyUrlPattern = /^[a-z][a-z0-9+.-]{1,15}:\/\/[^\s]/i;
const fieldsMax = 1_024;

/** What a text of fields is. */
export type FormReading = 'none' | 'clean' | 'beside';

/** Adds the fields of `a=1&b=2`. */
export function openForm(text: ByteString, leaves: Leaves, label = 'form'): FormReading {
  if (!namePattern.test(text.slice(0, 160)) || isPadding(text)) return 'none';
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
  for (let count = 0; count < fieldsMax && from <= text.length; count++) {
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

const partPattern = /content-disposition:[^\r\n]{0,1024}\r?\n(?:[^\r\n]{1,1024}\r?\n){0,8}\r?\n/gi;
const partNamePattern = /\bname="?([^"\r\n;]{0,128})/i;
const partsMax = 64;

/** Adds names, file names and contents of parts; false if there are none. */
export function openParts(text: ByteString, leaves: Leaves): boolean {
  if (!text.startsWith('--')) return false;
  const boundary = text.slice(0, Math.max(0, text.search(/\r?\n/)));
  if (boundary.length < 3) return false;
  partPattern.lastIndex = 0;
  let count = 0;
  for (; count < partsMax; count++) {
    const found = partPattern.exec(text);
    if (found === null) break;
    const from = partPattern.lastIndex;
    const next = text.indexOf(boundary, from);
    const name = partNamePattern.exec(found[0])?.[1] ?? '';
    leaves.add(`part header`, found[0].trim());
    leaves.add(`part.${name}`, text.slice(from, next < 0 ? text.length : next).trimEnd());
  }
  return count > 0;
}
