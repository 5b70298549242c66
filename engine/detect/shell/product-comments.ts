/**
 * Comments of User-Agent, `(X11; U; Linux x86_64; id)`: lists with semicolons in which languages
 * and products are called as commands are. Source: RFC 9110, 5.6.5 and 10.1.5.
 */

import type { ByteString } from '../../../base/byte-string.ts';

/** The field as leaves are called. */
const field = 'headers.user-agent';
/** A language or a product with its version, up to the next item. */
const item = /;[ \t]{0,2}[A-Za-z][\w-]{0,24}(?:[ \t/][\d.]{1,16})?(?=[;)])/y;
/** An open comment after a product; a shell reads none of its bytes as a mark. */
const openComment = /[\w.)\]][ \t]{0,2}\([^()"'`$\\<>|&\n]{0,256}$/;

/**
 * Whether the semicolon at an offset of a leaf with this label is between two items of a comment. A
 * shell runs nothing of a line with one: the parenthesis after a word is an error. Pure.
 */
export function partsItems(label: string, text: ByteString, at: number): boolean {
  if (label !== field || text.charCodeAt(at) !== 0x3b) return false;
  item.lastIndex = at;
  return item.test(text) && openComment.test(text.slice(Math.max(0, at - 320), at));
}
