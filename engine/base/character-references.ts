/** Decodes character references of HTML, as browsers and readers of file names do. */

import { encodeUtf8, type ByteString } from '../../base/byte-string.ts';

/** Names of HTML 2 need no semicolon. */
const pattern = /&(?:#0*(\d{1,7});?|#x0*([0-9a-f]{1,6});?|(\w{2,16});|(lt|gt|quot|amp|nbsp))/gi;
/** What stands for ASCII, in lower case. */
const named: Readonly<Record<string, string>> = {
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  amp: '&',
  sol: '/',
  bsol: '\\',
  colon: ':',
  lpar: '(',
  rpar: ')',
  tab: '\t',
  newline: '\n',
  nbsp: ' ',
  equals: '=',
  semi: ';',
  comma: ',',
  grave: '`',
  diacriticalgrave: '`',
  lbrace: '{',
  lcub: '{',
  rbrace: '}',
  rcub: '}',
  lbrack: '[',
  lsqb: '[',
  rbrack: ']',
  rsqb: ']',
  vert: '|',
  verbar: '|',
  verticalline: '|',
  lowbar: '_',
  underbar: '_',
  hat: '^',
  ast: '*',
  midast: '*',
  quest: '?',
  commat: '@',
  dollar: '$',
  period: '.',
  excl: '!',
  num: '#',
  percnt: '%',
  plus: '+',
  fjlig: 'fj',
};

/**
 * Names in any case; what names no character of ASCII stays. Cost: linear. Source: HTML standard,
 * sections 13.2.5.72 to 13.2.5.80 and 13.5.
 */
export function decodeCharacterReferences(text: ByteString): ByteString {
  if (!text.includes('&')) return text;
  return text.replace(
    pattern,
    (
      whole: string,
      decimal: string | undefined,
      hex: string | undefined,
      name: string | undefined,
      bare: string | undefined,
    ) => {
      if (decimal !== undefined) return characterOf(Number(decimal), whole);
      if (hex !== undefined) return characterOf(Number.parseInt(hex, 16), whole);
      return named[(name ?? bare ?? '').toLowerCase()] ?? whole;
    },
  );
}

function characterOf(point: number, whole: string): ByteString {
  return point > 0x10_ffff ? whole : encodeUtf8(String.fromCodePoint(point));
}
