/**
 * Tells code of PHP that only writes a page from code that runs something: it reads variables,
 * escapes and prints them, loops over them and calls nothing else but functions of WordPress that
 * show pages. What is not known runs. Pure.
 * Source: PHP manual, "Lexical structure", "Control structures".
 */

import type { ByteString } from '../../base/byte-string.ts';

const calls =
  'htmlspecialchars|htmlentities|esc_\\w{2,16}|sanitize_\\w{2,24}|wp_unslash|number_format|count|isset|' +
  'empty|foreach|if|elseif|while|trim|ucfirst|strtoupper|strtolower|json_encode|nl2br|implode|printf|' +
  'sprintf|selected|checked|the_\\w{2,24}|get_(?:header|footer|sidebar|permalink|the_\\w{2,24}|post_meta)|' +
  'have_posts|bloginfo|wp_head|wp_footer|add_(?:filter|action|shortcode)|function|date|__|_e';
const words =
  'echo|as|else|endif|endforeach|endwhile|global|return|true|false|null|[A-Z][A-Z_]{1,24}';
const methods = 'get_results|get_row|get_var|prepare|have_posts|the_post';
const token = new RegExp(
  [
    String.raw`(?:${calls})\s{0,4}\(`,
    // A variable before a bracket would name a function.
    String.raw`\$(?:_(?:GET|POST|SESSION)\['\w{1,32}'\]|[a-z]\w{0,32})(?!\w|\s{0,4}[({])`,
    String.raw`->(?:${methods})\(|->\w{1,32}(?!\w|\s{0,4}[({])`,
    String.raw`\['\w{1,32}'\](?!\s{0,4}\()`,
    String.raw`(?:${words}|\d{1,9})(?![\w(])`,
    String.raw`'[^'\\]{0,400}'|"(?:[^"\\$\x60{]|\{\$\w{1,32}->\w{1,32}\}){0,400}"`,
    String.raw`\/\*[^*]{0,200}\*\/`,
    String.raw`=>|&&|\|\||[=!]={1,2}|\?\?|\?(?!>)|[),.:;!<>={}[\]]`,
  ]
    .map((one) => `(?:${one})`)
    .join('|'),
  'y',
);
const begin = /<\?(?:php\b|=)/iy;
const end = /\s{0,8}\?>|\s{0,8}$/y;
/** A sentence in a line of its own, with which no program is one. */
const sentence = new RegExp(
  String.raw`\s{0,8}\n\s{0,8}\n(?!Use|Function|Class|Final|Abstract|Namespace|Const|Static|Global|` +
    String.raw`Echo|Print)[A-Z]\w{1,24} [a-z]{1,24} [\w.]{1,24} \w`,
  'y',
);
const blanks = /\s{0,40}/y;
const tokensMax = 200;
/** Strings that name a function for others to call. */
const callback = new RegExp(
  String.raw`(['"])(?:\w{0,16}(?:exec|system|eval|passthru|popen|open|info|assert|call\w{0,16}|` +
    String.raw`include|require|decode|file\w{0,16}|dump|unlink|create_function))\1`,
  'i',
);
const takesCallback = /\badd_\w{4,9}\s{0,4}\(/;

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
    end.lastIndex = sentence.lastIndex = at;
    if (end.test(text)) return reads && !callsBack(text.slice(open, at)) ? end.lastIndex : -1;
    if (reads && sentence.test(text)) return callsBack(text.slice(open, at)) ? -1 : at;
    blanks.lastIndex = at;
    blanks.test(text);
    token.lastIndex = blanks.lastIndex;
    if (!token.test(text)) return -1;
    reads ||= /[$(]|^end/.test(text.slice(blanks.lastIndex, token.lastIndex));
    at = token.lastIndex;
  }
  return -1;
}

/** Whether a piece gives the name of a function, or a value of the request, to be called. */
function callsBack(piece: ByteString): boolean {
  return callback.test(piece) || (takesCallback.test(piece) && piece.includes('$_'));
}

/** Whether a place stands in such a piece. */
export function isInPagePart(text: ByteString, place: number): boolean {
  const open = text.lastIndexOf('<?', place);
  return open >= 0 && endOfPagePart(text, open) > place;
}
