/** The names under which programs on an origin keep arguments, cookies and header fields. Pure. */

import type { ByteString } from './byte-string.ts';

/**
 * An argument's or cookie's name in PHP; empty for what PHP drops, and for members of a list or
 * map (`a[]`, `a[b]`), whose names are no spelling of a plain one.
 * Source: PHP, main/php_variables.c.
 */
export function phpName(name: ByteString): ByteString {
  const zero = name.indexOf('\0');
  const text = (zero < 0 ? name : name.slice(0, zero)).replace(/^ +/, '');
  const open = text.indexOf('[');
  if (open === 0 || (open > 0 && text.includes(']', open))) return '';
  return text.replaceAll(/[ .[]/g, '_');
}

/**
 * A header field's name in CGI, which makes one mark of all; here it is `-`, as names are sent.
 * Source: RFC 3875 section 4.1.18; Apache httpd, server/util_script.c.
 */
export function cgiName(name: ByteString): ByteString {
  return name.replaceAll(/[^A-Za-z0-9]/g, '-');
}
