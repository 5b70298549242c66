/**
 * Tells code of PHP that only writes a page from code that runs something: it reads variables,
 * escapes and prints them, loops over them and calls nothing else. What is not known runs. Pure.
 * Source: PHP manual, "Lexical structure", "Control structures".
 */

import type { ByteString } from '../../base/byte-string.ts';

const calls =
  'htmlspecialchars|htmlentities|esc_html|esc_attr|esc_url|number_format|count|isset|empty|' +
  'foreach|if|elseif|while|trim|ucfirst|strtoupper|strtolower|json_encode|nl2br|implode|' +
  'the_title|the_content|the_permalink|get_header|get_footer|get_the_title|have_posts|the_post|' +
  'bloginfo|wp_head|wp_footer|date|__|_e';
const words = 'echo|as|else|endif|endforeach|endwhile|true|false|null|[A-Z][A-Z_]{1,24}';
const token = new RegExp(
  [
    String.raw`(?:${calls})\s{0,4}\(`,
    // A variable before a bracket would name a function.
    String.raw`\$(?:_(?:GET|POST|SESSION)\['\w{1,32}'\]|[a-z]\w{0,32})(?!\w|\s{0,4}[({])`,
    String.raw`->\w{1,32}(?!\w|\s{0,4}[({])`,
    String.raw`\['\w{1,32}'\](?!\s{0,4}\()`,
    String.raw`(?:${words}|\d{1,9})(?![\w(])`,
    String.raw`'[\w #.,:/%-]{0,60}'|"[\w #.,:/%-]{0,60}"`,
    String.raw`=>|&&|\|\||[=!]={1,2}|\?\?|\?(?!>)|[),.:;!<>]`,
  ]
    .map((one) => `(?:${one})`)
    .join('|'),
  'y',
);
const begin = /<\?(?:php\b|=)/iy;
const end = /\s{0,8}\?>/y;
const blanks = /\s{0,40}/y;
const tokensMax = 80;

/**
 * The offset after a piece of PHP at `open` that only writes a page; -1 where it does more, or
 * holds constants only, as a test of whether it runs does. Cost: linear in the piece.
 */
export function endOfPagePart(text: ByteString, open: number): number {
  begin.lastIndex = open;
  if (!begin.test(text)) return -1;
  let at = begin.lastIndex;
  let reads = false;
  for (let count = 0; count < tokensMax; count++) {
    end.lastIndex = at;
    if (end.test(text)) return reads ? end.lastIndex : -1;
    blanks.lastIndex = at;
    blanks.test(text);
    token.lastIndex = blanks.lastIndex;
    if (!token.test(text)) return -1;
    reads ||= /[$(]|^end/.test(text.slice(blanks.lastIndex, token.lastIndex));
    at = token.lastIndex;
  }
  return -1;
}

/** Whether a place stands in such a piece. */
export function isInPagePart(text: ByteString, place: number): boolean {
  const open = text.lastIndexOf('<?', place);
  return open >= 0 && endOfPagePart(text, open) > place;
}
