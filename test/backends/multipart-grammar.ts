/**
 * Draws multipart bodies: forms as browsers send them, each with a few of the liberties that some
 * parser takes. Texts are unique in a body, so that a reading tells where it comes from.
 */

import type { ByteString } from '../../base/byte-string.ts';
import type { Dice } from '../agree/random-changes.ts';
import type { BedRequest } from './request.ts';

/** How one body departs from the usual; each member is drawn once and used where it applies. */
interface Form {
  readonly dice: Dice;
  /** How many of 100 places with a choice take an unusual one. */
  readonly oddity: number;
  readonly boundary: ByteString;
  readonly delimiter: ByteString;
  readonly eol: ByteString;
  count: number;
}

const boundaries = [
  'B', 'B', 'B', '----WebKitFormBoundary7MA4YWxkTrZu0gW', 'x-y_z.1', 'a,b', 'a b', 'a=b', "a'b",
  'a:b', 'a/b', 'a?b', 'a(b)', 'a+b', 'B--', '-', '--', 'b'.repeat(70), 'b'.repeat(71),
]; // prettier-ignore
const lineEnds = ['\r\n', '\n', '\r', '\r\r\n', '\n\r', '\v', '\f', '\0\r\n', '\x85', ' \r\n'];
const blanks = [' ', '  ', '\t', '', '\v', '\f', '\r', '\xa0', '\0', '\r\n ', '\n\t'];
const spice = [
  '"', "'", '\\', '\\\\', '\\"', ';', '=', '%22', '%0d%0a', '\0', '\r', '\n', ' ', '\t', ':', '*',
  '[', ']', '[]', '.', '+', '&', '#', 'é', '\xff', '\xe2\x80\xa8', '=?utf-8?q?x?=', '&#34;', ',',
  '&#104p', '&#x00068;', '&lpar;', '&lt', '&amp;#104;', '&eacute;',
  '--B', '--', '\r\n--', '<', '/', '..', '?',
]; // prettier-ignore

/** One request. */
export function drawMultipart(dice: Dice): BedRequest {
  const boundary = dice.below(5) === 0 ? dice.pick(boundaries) : 'B';
  const form: Form = {
    dice,
    oddity: dice.pick([0, 1, 1, 2, 2, 3, 5, 10]),
    boundary,
    delimiter: `--${boundary}`,
    eol: dice.below(20) === 0 ? dice.pick(lineEnds) : '\r\n',
    count: 0,
  };
  const parts = Array.from({ length: 1 + dice.below(4) }, () => part(form));
  const preamble = odd(form, '', ['x', '\r\n', 'x\r\n', '\n', `${hidden(form)}\r\n`]);
  const final = odd(form, `${form.delimiter}--${form.eol}`, [
    `${form.delimiter}--`, `${form.delimiter}--x`, form.delimiter, `${form.delimiter}\r\n`, '',
    `${form.delimiter}-`, `${form.delimiter}-- \r\n`, `--${form.boundary}-- `,
    `${form.delimiter}--\r\n${part(form)}${form.delimiter}--\r\n`,
  ]); // prettier-ignore
  const text = scramble(form, `${preamble}${parts.join('')}${final}`);
  return {
    kind: 'multipart',
    method: 'POST',
    target: '/',
    headers: [['Content-Type', contentType(form)]],
    body: Buffer.from(text, 'latin1'),
  };
}

function odd<T>({ dice, oddity }: Form, usual: T, choices: readonly T[]): T {
  return dice.below(100) < oddity ? dice.pick(choices) : usual;
}

/** A word that no other place of the body has. */
function word(form: Form, letter: string): ByteString {
  const { dice } = form;
  const text = `${letter}${form.count++}${letter}`;
  if (dice.below(100) >= form.oddity) return text;
  const at = dice.below(text.length + 1);
  return text.slice(0, at) + dice.pick(spice) + text.slice(at);
}

function contentType(form: Form): ByteString {
  const { boundary } = form;
  const value = odd(form, boundary, [
    `"${boundary}"`, ` ${boundary}`, `${boundary} `, `'${boundary}'`, `"${boundary}`,
    `${boundary}"`, `${boundary},x`, `${boundary}\t`, `"\\${boundary}"`, `"${boundary}" `,
    `${boundary} x`, `${boundary};`, `"${boundary}";x`, `B;boundary=${boundary}`,
    `${boundary};boundary=C`, `C; Boundary=${boundary}`, `${boundary};charset=utf-8`,
    `${boundary}; charset=utf-16le`, `${boundary}; boundary*0=C`, `${boundary}/*x*/`,
  ]); // prettier-ignore
  const name = odd(form, 'boundary=', [
    'Boundary=', 'BOUNDARY=', 'boundary =', 'boundary= ', 'xboundary=', 'boundary*=', 'boundary:',
    "boundary*=utf-8''", 'boundary*0=', 'charset=utf-8; boundary=', 'a="; boundary=C"; boundary=',
    'boundary=C; x=', ' boundary=', '; boundary=',
  ]); // prettier-ignore
  const type = odd(form, 'multipart/form-data; ', [
    'Multipart/Form-Data; ', 'multipart/form-data;', 'multipart/form-data ; ',
    'multipart/form-data, ', 'multipart/form-data ', 'multipart/form-datax; ', 'multipart/mixed; ',
    'multipart/form-data;; ', 'multipart/related; ', 'multipart/form-data;\t', 'multipart/; ',
  ]); // prettier-ignore
  // The front takes no control characters and no blanks at the ends.
  // oxlint-disable-next-line no-control-regex
  return (type + name + value).replaceAll(/[\0-\x08\x0a-\x1f\x7f]/g, '').trim();
}

function part(form: Form): ByteString {
  const { dice, eol } = form;
  const isFile = dice.below(2) === 0;
  const lines = [disposition(form, isFile)];
  if (isFile || dice.below(6) === 0) lines.push(mediaType(form));
  const more = odd(form, '', [
    'Content-Transfer-Encoding: base64', 'Content-Transfer-Encoding: quoted-printable',
    'Content-Transfer-Encoding: binary', 'X: y', 'nocolon', ': x', 'Content-Length: 2', ' folded',
    'Content-Disposition: form-data; name="second"', 'content-disposition: attachment',
    'Content-Disposition : form-data; name="third"; filename="f"', 'X: y\rX: z', '\tx',
    'X:\r\n Content-Disposition: form-data; name="fourth"', 'Content-Disposition', '\xffX: y',
    'X\0: y', 'Content-Disposition\0: form-data; name="fifth"', 'Content-Location: x',
  ]); // prettier-ignore
  if (more !== '') lines.splice(dice.below(lines.length + 1), 0, more);
  if (dice.below(3) === 0) lines.reverse();
  const headers = lines.map((line) => line + odd(form, eol, lineEnds)).join('');
  const start = form.delimiter + odd(form, eol, [...lineEnds, ' \r\n', '\t\r\n', '-\r\n', 'x\r\n']);
  const blank = odd(form, eol, [...lineEnds, '', '\r\n\r\n', ' \r\n']);
  return start + headers + blank + content(form) + odd(form, eol, lineEnds);
}

function disposition(form: Form, isFile: boolean): ByteString {
  const { dice } = form;
  const parameters = [parameter(form, odd(form, 'name', nameKeys))];
  const fileKey = odd(form, 'filename', fileKeys);
  if (isFile) parameters.push(parameter(form, fileKey));
  for (let more = odd(form, 0, [1, 2]); more > 0; more--) {
    const key = dice.pick([...nameKeys, ...fileKeys, 'name', 'filename', 'x']);
    parameters.splice(dice.below(parameters.length + 1), 0, parameter(form, key));
  }
  const type = odd(form, 'form-data', [
    'Form-Data', 'form-datax', 'attachment', 'form-data x', '', 'file', '"form-data"', 'form-data;',
  ]); // prettier-ignore
  const field = odd(form, 'Content-Disposition: ', [
    'content-disposition: ', 'CONTENT-DISPOSITION:', 'Content-Disposition:\t',
    'Content-Disposition :',
    'Content-Disposition:  ', 'Content-Disposition: \r\n ', ' Content-Disposition: ',
    'Content-Dispositio: ', 'Content-Disposition:\v',
  ]); // prettier-ignore
  const separator = odd(form, '; ', [
    ';',
    ' ;',
    ' ; ',
    ';\t',
    ',',
    ' ',
    ';\r\n ',
    ';;',
    '; ; ',
    ';\r',
  ]);
  const end = odd(form, '', [';', '; ', ' ', ' x', ';x', '\\', '"', ';=', '; x=', ';\0']);
  return field + [type, ...parameters].join(separator) + end;
}

const nameKeys = [
  'Name', 'NAME', 'name ', ' name', 'name*', 'name*0', 'name*0*', '"name"', 'name\t', 'nam',
  'name\0', 'xname', 'name\r', 'n\\ame',
]; // prettier-ignore
const fileKeys = [
  'filename*', 'filename*', 'Filename', 'FILENAME', 'filename ', ' filename', 'filename*0',
  'filename*0*', '"filename"', 'filename\t', 'filename\0', 'xfilename', 'file name', 'filename**',
  'filename[]', 'FileName*', 'file\\name',
]; // prettier-ignore

function parameter(form: Form, key: ByteString): ByteString {
  const { dice } = form;
  const text = word(form, key.trim().toLowerCase().startsWith('n') ? 'n' : 'f');
  const usual = key.endsWith('*') && dice.below(4) > 0 ? `utf-8''${text}` : `"${text}"`;
  const value = odd(form, usual, [
    text, `'${text}'`, '""', '', `"${text}`, `${text}"`, `"${text}" x`, `"${text}\\"`,
    `"${text}\\\\"`, `"${text}\\\\\\"`, `"${text}"x"`, `UTF-8''${text}%22`, `utf-8'en'${text}`,
    `"\\${text}"`, `" ${text}"`, `"${text};"`, `"${text}; filename=q"`, `"${text}\\"; filename="q"`,
    `"${text}\\\\"; filename="q"`, `"${text}" ; filename="q"`, `"${text}"\r; filename="q"`,
    `utf-16le''${text}%00`, `''${text}`, `utf-8''`, `"${text}""y"`, `"a\\"; filename="${text}"`,
    `'a"; filename="${text}"'`, `"${text}\0"`, `"${text}";filename=`, `base64''${text}`,
    `"=?utf-8?b?eA==?="`, `"${text}&quot;"`, `{${text}}`,
  ]); // prettier-ignore
  const equals = odd(
    form,
    '=',
    blanks.flatMap((blank) => [`${blank}=`, `=${blank}`]),
  );
  return key + equals + value;
}

function mediaType(form: Form): ByteString {
  return odd(form, 'Content-Type: text/plain', [
    'Content-Type: application/octet-stream', 'Content-Type: text/plain; charset=utf-16le',
    'Content-Type: text/plain; charset=utf-7', 'Content-Type: text/plain; charset=base64',
    'Content-Type: multipart/mixed; boundary=C', 'Content-Type: application/x-php',
    'Content-Type: text/plain; charset=iso-8859-1', 'Content-Type:', 'Content-Type: x',
    'Content-Type: multipart/form-data; boundary=B', 'Content-Type: text/plain; charset=cp037',
    'Content-Type: message/rfc822', 'Content-Type: text/plain; charset="utf-16be"',
  ]); // prettier-ignore
}

/** A value, now and then with something in it that could end it. */
function content(form: Form): ByteString {
  const { dice } = form;
  const text = word(form, 'v');
  if (dice.below(100) >= 2 * form.oddity) return text;
  const inner = dice.pick([hidden, hidden, hidden, spiced, nested, encoded]);
  return text + inner(form) + word(form, 'v');
}

const spiced = ({ dice }: Form): ByteString => dice.pick(spice);
const encoded = (form: Form): ByteString =>
  `\r\n${Buffer.from(word(form, 'v')).toString('base64')}\r\n=41=42%41`;
const nested = (form: Form): ByteString =>
  `\r\n--C\r\n${disposition(form, false)}\r\n\r\n${word(form, 'v')}\r\n--C--\r\n`;

/** A field that a parser with another idea of boundaries would find. */
function hidden(form: Form): ByteString {
  const { dice, boundary } = form;
  const usual = form.delimiter;
  const mark = dice.pick([
    usual, usual, usual, `--${boundary} `, `-- ${boundary}`, `--"${boundary}"`, `${usual}x`,
    `${usual}-`, usual.toLowerCase(), usual.slice(0, -1), `--${boundary.split(/[ ,;]/)[0]!}`,
    `${usual}--`, `-${usual}`, boundary, `${usual}\0`, `${usual}\t`,
  ]); // prettier-ignore
  const line = dice.pick(['\r\n', '\r\n', '\n', '\r']);
  const before = dice.pick([...lineEnds, ' ', '', 'x', '\r', '\r', '\n']);
  const after = dice.pick([line, line, ...lineEnds, '']);
  const name = `Content-Disposition: form-data; name="${word(form, 'n')}"`;
  return `${before}${mark}${after}${name}${line}${line}${word(form, 'v')}${dice.pick(['', line])}`;
}

/** Now and then one byte goes, comes or changes anywhere. */
function scramble(form: Form, text: ByteString): ByteString {
  const { dice } = form;
  if (dice.below(100) >= 2 * form.oddity) return text;
  const at = dice.below(text.length);
  const rest = at + dice.below(2);
  const piece = dice.below(3) === 0 ? '' : dice.pick([...spice, ...lineEnds, ...blanks]);
  return text.slice(0, at) + piece + text.slice(rest);
}
