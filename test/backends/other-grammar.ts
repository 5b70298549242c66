/**
 * Draws forms, JSON and XML documents and Cookie headers: mostly well-formed, with the escapes,
 * blanks and repetitions that parsers read in more than one way.
 */

import type { ByteString } from '../../base/byte-string.ts';
import type { Dice } from '../agree/random-changes.ts';
import type { BedRequest } from './request.ts';

/** Words and liberties of one request. */
class Draft {
  readonly dice: Dice;
  private readonly oddity: number;
  private count = 0;

  constructor(dice: Dice) {
    this.dice = dice;
    this.oddity = dice.pick([0, 2, 5, 10, 25]);
  }

  odd<T>(usual: T, choices: readonly T[]): T {
    return this.dice.below(100) < this.oddity ? this.dice.pick(choices) : usual;
  }

  /** A text that no other place has, now and then with one of `spice` in it. */
  word(letter: string, spice: readonly string[]): ByteString {
    const text = `${letter}${this.count++}${letter}`;
    if (this.dice.below(100) >= 2 * this.oddity) return text;
    const at = this.dice.below(text.length + 1);
    return text.slice(0, at) + this.dice.pick(spice) + text.slice(at);
  }

  list(max: number, draw: () => ByteString): ByteString[] {
    return Array.from({ length: 1 + this.dice.below(max) }, draw);
  }
}

const escapes = [
  '%41', '%', '%4', '%zz', '%%41', '%2541', '%00', '%0d%0a', '%c3%a9', '%ff', '%u0041', '+', '%2B',
  '%20', '%5b', '[', ']', '[]', '[a]', '[a][b]', '.', ' ', '"', "'", '\\', ';', '%3b', '%26', '%3d',
  ',', '\0', '\t', '\r\n', 'é', '\xe2\x80\xa8', '<', '#', '?', '/', '&amp;', '=', '%e2%80%ae',
]; // prettier-ignore

/** A form, half of the time with a query string beside it. */
export function drawForm(dice: Dice): BedRequest {
  const draft = new Draft(dice);
  const type = draft.odd('application/x-www-form-urlencoded', [
    'application/x-www-form-urlencoded; charset=utf-8', 'Application/X-WWW-Form-Urlencoded',
    'application/x-www-form-urlencoded;charset=iso-8859-1', 'application/x-www-form-urlencoded ;x=y',
    'application/x-www-form-urlencoded; charset=utf-16', 'application/x-www-form-urlencoded;',
    'application/x-www-form-urlencoded; charset=cp037', 'application/x-www-form-urlencoded,x',
    'application/x-www-form-urlencoded; charset="utf-8"', 'application/x-www-form-urlencodedx',
  ]); // prettier-ignore
  // The front refuses control characters and bytes beyond ASCII in targets.
  // oxlint-disable-next-line no-control-regex
  const query = pairs(draft).replaceAll(/[\0-\x20\x7f-\uffff#"<>\\]/g, '_');
  return {
    kind: 'form',
    method: 'POST',
    target: dice.below(2) === 0 ? '/' : `/?${query}`,
    headers: [['Content-Type', type]],
    body: Buffer.from(pairs(draft), 'latin1'),
  };
}

function pairs(draft: Draft): ByteString {
  const pair = (): ByteString => {
    const name =
      draft.odd('', [draft.word('n', escapes), '', ' ', '%20'] as const) ||
      draft.word('n', escapes);
    return name + draft.odd('=', ['', '==', ' = ', '%3d', '=;']) + draft.word('v', escapes);
  };
  return draft.list(5, pair).join(draft.odd('&', ['&&', ';', '&amp;', '& ', '\r\n', '%26']));
}

const jsonSpice = [
  '\\u0041', '\\u00e9', '\\n', '\\"', '\\\\', '\\/', '\\u0000', '\\ud83d\\ude00', '\\ud800',
  '\\x41', '\xc3\xa9', '\xff', '\t', '\n', '.', '[0]', '$', '%41', '\\b', '\\u000a', "'", '<',
  '//', '\x7f',
]; // prettier-ignore

/** A JSON document. */
export function drawJson(dice: Dice): BedRequest {
  const draft = new Draft(dice);
  const type = draft.odd('application/json', [
    'application/json; charset=utf-8', 'Application/JSON', 'application/json;charset=UTF-8',
  ]); // prettier-ignore
  const before = draft.odd('', [' ', '\n', '\xef\xbb\xbf', '\t', '\f', '//x\n']);
  const after = draft.odd('', [' ', '\n', '\0', ',', '{"n99n":"v99v"}', ']', 'x']);
  return {
    kind: 'json',
    method: 'POST',
    target: '/',
    headers: [['Content-Type', type]],
    body: Buffer.from(before + jsonNode(draft, 0, true) + after, 'latin1'),
  };
}

function jsonNode(draft: Draft, depth: number, isRoot = false): ByteString {
  const { dice } = draft;
  const kind = isRoot ? dice.below(2) : depth > 3 ? 2 + dice.below(2) : dice.below(8);
  const blank = draft.odd('', [' ', '\n', '\t', '\r']);
  if (kind === 1) {
    return `[${draft.list(4, () => jsonNode(draft, depth + 1)).join(draft.odd(',', [', ', ',,', ' ']))}${draft.odd('', [','])}]`;
  }
  if (kind === 0 || kind > 5) {
    const member = (): ByteString => {
      const name = draft.odd(`"${draft.word('n', jsonSpice)}"`, [
        '"same"',
        '""',
        '"__proto__"',
        'bare',
      ]);
      return `${name}${blank}:${blank}${jsonNode(draft, depth + 1)}`;
    };
    return `{${draft.list(4, member).join(',')}${draft.odd('', [','])}}`;
  }
  if (kind === 2)
    return draft.odd('1', ['-1', '1e5', '0x1', '01', 'NaN', 'Infinity', 'true', 'null', '+1']);
  return draft.odd(`"${draft.word('v', jsonSpice)}"`, [`'${draft.word('v', [''])}'`]);
}

const xmlSpice = [
  '&lt;', '&#65;', '&#x41;', '&amp;#65;', '<![CDATA[c]]>', '<!--x-->', '<?pi x?>', '&quot;', '\n',
  '&e;', '\xc3\xa9', ']]&gt;', '&apos;', '&#0;', '\xff', '\t', '<![CDATA[<a>]]>', '&#233;', '%41',
]; // prettier-ignore

/** An XML document. */
export function drawXml(dice: Dice): BedRequest {
  const draft = new Draft(dice);
  const type = draft.odd('text/xml', ['application/xml', 'text/xml; charset=utf-8']);
  const start = draft.odd('', [
    '<?xml version="1.0"?>', '<?xml version="1.0" encoding="utf-8"?>', '\xef\xbb\xbf', '<!--x-->',
    '<?xml version="1.0" encoding="iso-8859-1"?>', '<?xml version="1.1"?>', '\n', '<!DOCTYPE a>',
    '<!DOCTYPE a [<!ENTITY e "ev">]>', '<?xml version="1.0" standalone="yes"?>',
  ]); // prettier-ignore
  const end = draft.odd('', ['\n', '<!--x-->', '<b/>', 'x', '<?pi?>']);
  return {
    kind: 'xml',
    method: 'POST',
    target: '/',
    headers: [['Content-Type', type]],
    body: encodeXml(draft, start + xmlNode(draft, 0) + end),
  };
}

/** Mostly the bytes as they are, else the document in another encoding, which it may name. */
function encodeXml(draft: Draft, text: ByteString): Buffer {
  const named = (name: string): ByteString =>
    `<?xml version="1.0"${draft.odd(' ', ['\n', ' '.repeat(150)])}encoding="${name}"?>${text}`;
  const utf16 = (name: string): Buffer => Buffer.from(draft.odd(text, [named(name)]), 'utf16le');
  const encode = draft.odd(
    () => Buffer.from(text, 'latin1'),
    [
      () => utf16('UTF-16'),
      () => utf16('UTF-16BE').swap16(),
      () => Buffer.concat([Buffer.from([0xff, 0xfe]), utf16('UTF-16')]),
      () => Buffer.from(utf32Of(draft.odd(text, [named('UTF-32BE')]))),
      () => Buffer.from(utf7Of(named('UTF-7')), 'latin1'),
      () => Buffer.from(named(draft.dice.pick(['HZ', 'ISO-2022-JP', 'koi8-r', 'Big5'])), 'latin1'),
    ],
  );
  return encode();
}

const utf32Of = (text: ByteString): number[] =>
  [...text].flatMap((one) => [0, 0, 0, one.charCodeAt(0)]);

/** The text with its marks in Base64 but for those of the declaration and of tags. */
const utf7Of = (text: ByteString): ByteString =>
  text.replaceAll(/[^\w\s<>?="':/.-]/g, (mark) => {
    const unit = Buffer.from(mark, 'utf16le').swap16();
    return `+${unit.toString('base64').replaceAll('=', '')}-`;
  });

function xmlNode(draft: Draft, depth: number): ByteString {
  const { dice } = draft;
  const name = dice.pick(['a', 'b', 'c:d', 'a.b', 'e-f']);
  const scope = depth === 0 ? ' xmlns:c="urn:c"' : '';
  const text = (): ByteString =>
    dice.below(depth > 3 ? 1 : 2) === 0 ? draft.word('v', xmlSpice) : xmlNode(draft, depth + 1);
  const attributeSpice = xmlSpice.filter((one) => !one.includes('<'));
  const attribute = dice.below(3) === 0 ? ` x="${draft.word('v', attributeSpice)}"` : '';
  const inner = draft.list(3, text).join(draft.odd('', [' ', '\n']));
  return `<${name}${scope}${attribute}>${inner}</${draft.odd(name, [`${name} `, 'z'])}>`;
}

const cookieSpice = [
  '%41', '%', '%zz', '+', '"', '\\"', '\\073', '\\101', '\\\\', '\\', ' ', '\t', ',', '=', '[a]',
  '.', '\\400', '\\0', "'", '%3b', '%22', '\xc3\xa9', '\xff', ':', '$', '/', '(', '%00', '\\054',
]; // prettier-ignore

/** One or two Cookie fields. */
export function drawCookies(dice: Dice): BedRequest {
  const draft = new Draft(dice);
  const cookie = (): ByteString => {
    const name = draft.odd(draft.word('n', cookieSpice), ['', ' ', '$Version', '"', '__Host-a']);
    const text = draft.word('v', cookieSpice);
    const value = draft.odd(text, [
      `"${text}"`, `"${text}`, `${text}"`, ` ${text} `, `"${text};${draft.word('v', cookieSpice)}"`,
      `"${text}; x="${draft.word('v', cookieSpice)}"`, `"\\${text}"`, '', '"', '""', ` "${text}" `,
      `"\\074${text}\\076"`, `"${text}\\";${draft.word('v', cookieSpice)}"`, `"${text}"x`,
    ]); // prettier-ignore
    return name + draft.odd('=', ['', ' = ', '==', '= ', ' =']) + value;
  };
  const field = (): ByteString =>
    draft.list(5, cookie).join(draft.odd('; ', [';', ' ; ', ', ', ';;', ';\t', '; ; ', '&']));
  const headers = draft
    .list(draft.odd(1, [2]), field)
    .map((text) => ['Cookie', text.trim()] as const);
  return { kind: 'cookie', method: 'GET', target: '/', headers, body: Buffer.alloc(0) };
}
