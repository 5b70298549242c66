/**
 * Draws Content-Type lines of forms, each with a body that has parts for every boundary that a
 * reader may take out of the line: one boundary's parts are fields and files, those of the others
 * stand inside the file.
 */

import type { ByteString } from '../../base/byte-string.ts';
import type { Dice } from '../agree/random-changes.ts';
import type { BedRequest } from './request.ts';

const boundaries = [
  'B', 'B', '----=_Part_0_1.2', '3f2504e0-4f89-11d3', '----geckoformboundary4a7', 'a_b+c',
  'xBoundary=y', "a'b", 'a b', 'a,b', 'a:b', '(a)', 'a/b?c', 'b'.repeat(70),
]; // prettier-ignore
const plainParameters = [
  'charset=utf-8', 'charset=UTF-8', 'charset="utf-8"', 'Charset=ISO-8859-1', 'charset=us-ascii',
  'type="text/xml"', 'start=root', 'start="<root@x>"', 'version=1.0', 'x="a;b"', 'x=boundary',
]; // prettier-ignore
const oddParameters = [
  'x="boundary=C"', 'x="; boundary=C"', 'boundary=C', 'Boundary=C', 'boundary="C"', 'boundary*=C',
  "boundary*=utf-8''C", 'boundary*0=C', 'xboundary=C', 'x', 'x=', '', '=y', 'x=a=b', 'x="',
  'x="\\"',
  "x='boundary=C'", 'charset=utf-16', 'charset=utf-7', 'charset=cp037', 'boundary',
  'x=(boundary=C)',
  'x=y,boundary=C', 'x=y boundary=C', 'x="\\"; boundary=C; y="', 'charset=utf-8, boundary=C',
  'x="boundary";y=C', 'boundary =C', 'boundary= C', '"boundary"=C',
]; // prettier-ignore

/** One request. */
export function drawContentType(dice: Dice): BedRequest {
  const odd = dice.below(2) === 0;
  const usual = <T>(plain: T, choices: readonly T[]): T =>
    odd && dice.below(6) === 0 ? dice.pick(choices) : plain;
  const boundary = dice.pick(boundaries);
  const type = usual('multipart/form-data', ['Multipart/Form-Data', 'multipart/form-data,x']);
  const parameters = [boundaryParameter(boundary, dice, usual)];
  for (let more = dice.below(3); more > 0; more--) {
    const one = dice.pick(odd && dice.below(2) === 0 ? oddParameters : plainParameters);
    parameters.splice(dice.below(parameters.length + 1), 0, one);
  }
  const separators = dice.pick(['; ', ';', '; ', ';  ']);
  const separator = (): string => usual(separators, [' ;', ';\t', ';;', ',', ' ', ' ; ', '; ;']);
  const end = usual('', [';', ' ', '; ', ' ;', ',', '"', ' x']);
  const line = type + parameters.map((one) => separator() + one).join('') + end;
  const taken = dice.below(6) === 0 ? dice.pick(['C', ...valuesIn(line)]) : boundary;
  return {
    kind: 'multipart',
    method: 'POST',
    target: '/',
    headers: [['Content-Type', line.trim()]],
    body: Buffer.from(bodyFor(taken, new Set(['C', boundary, ...valuesIn(line)])), 'latin1'),
  };
}

function boundaryParameter(
  boundary: ByteString,
  dice: Dice,
  usual: <T>(plain: T, choices: readonly T[]) => T,
): ByteString {
  const name = usual(dice.pick(['boundary', 'boundary', 'Boundary']), [
    'BOUNDARY', 'boundary ', 'boundary*', 'boundary*0', 'xboundary', ' boundary', 'boundary\t',
  ]); // prettier-ignore
  const isToken = /^[0-9A-Za-z'+_\-.]+$/.test(boundary);
  const quoted = !isToken || dice.below(3) === 0;
  const value = usual(quoted ? `"${boundary}"` : boundary, [
    boundary, ` ${boundary}`, `'${boundary}'`, `"${boundary}`, `${boundary}"`, `"${boundary}"x`,
    `"\\${boundary}"`, `"${boundary} "`, `" ${boundary}"`, `${boundary} x`, `"${boundary}""C"`,
    `${boundary},C`, `"${boundary}\\"C"`, `(${boundary})`, `"${boundary}";C`, '""',
  ]); // prettier-ignore
  return `${name}=${value}`;
}

/** What readers may take for values: up to the next mark, with and without quotes and blanks. */
function valuesIn(line: ByteString): readonly ByteString[] {
  const found = new Set<ByteString>();
  for (const [, text = ''] of line.matchAll(/=([^=]*)/g)) {
    for (const one of [
      text,
      text.split(';')[0]!,
      text.split(/[,;]/)[0]!,
      text.split(/[ ,;]/)[0]!,
    ]) {
      const bare = one.trim();
      for (const value of [
        bare,
        one,
        bare.replaceAll(/^["']|["']$/g, ''),
        bare.split('"')[1] ?? '',
      ]) {
        if (value !== '') found.add(value);
      }
    }
  }
  return [...found];
}

/** A field and a file; in the file the parts of all other boundaries. */
function bodyFor(taken: ByteString, all: ReadonlySet<ByteString>): ByteString {
  const others = [...all].filter((one) => one !== taken && !one.startsWith(taken));
  const hidden = others.map((one, at) => {
    const field = `Content-Disposition: form-data; name="h${at}"`;
    return `\r\n--${one}\r\n${field}\r\n\r\nhidden${at}\r\n--${one}--`;
  });
  return [
    `--${taken}`, 'Content-Disposition: form-data; name="a"', '', 'V+ADw-', `--${taken}`,
    'Content-Disposition: form-data; name="f"; filename="n"', 'Content-Type: text/plain', '',
    `F${hidden.join('')}`, `--${taken}--`, '',
  ].join('\r\n'); // prettier-ignore
}
