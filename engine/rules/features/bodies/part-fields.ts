/**
 * Makes rows of the fields of a part: names of files are files, what a client writes freely is an
 * argument by the name of its field, and what only tells how the part is written is nothing.
 */

import type { ByteString } from '../../../../base/byte-string.ts';
import { decodeEncodedWords } from '../../../base/encoded-words.ts';
import type { PartField, PartHead } from '../../../base/part-reader.ts';
import type { Transaction } from '../../transaction/transaction.ts';
import { SOURCE } from '../../transaction/values.ts';
import { hasArgumentRoom } from './arguments.ts';

/** Fields of which the value is a media type, a number, a name of an encoding, or an identifier. */
const written: Readonly<Record<string, RegExp>> = {
  'content-type': /^[^'`$\\(){}|<>]*$/,
  'content-length': /^\d*$/,
  'content-id': /^[\w.!#$%&*+/=?^~@:-]*$/,
  'content-md5': /^[\w+/=]*$/,
  'content-language': /^[\w, -]*$/,
  'content-transfer-encoding': /^(?:7bit|8bit|binary|base64|quoted-printable)$/i,
  'mime-version': /^[\d. ]*$/,
  accept: /^[\w.+*/;=, -]*$/,
  'accept-charset': /^[\w.+*/;=, -]*$/,
  'accept-encoding': /^[\w.+*/;=, -]*$/,
  'accept-language': /^[\w.+*/;=, -]*$/,
};
/** `<id>` as Content-ID writes it, alone, and `start` of a media type, in quotes. */
const bracketed = /(?<=^|")<([\w.!#$%&*+/=?^~@:-]+)>(?="|$)/g;
/** Names of files and of parts; extended ones are percent-encoded, numbered ones are pieces. */
const namePattern =
  /(?:^|[;\s])((?:file)?name)\*?(\d*)\*?[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"?|([^;\s]*))/gi;
const naming = new Set(['content-type', 'content-disposition']);
/** What is left of a well-formed list of parameters once names are taken out of it. */
const plainParameters = /^[\w-]*(?:[ \t]*;[ \t]*(?:[\w-]+=(?:"[\w.,:+ -]*"|[\w.:+-]*))?)*[ \t]*$/;

/** Whether a field may name a part or a file. */
export function isNaming({ name }: PartField): boolean {
  return naming.has(name);
}

/** Adds the rows of a header section. Cost: linear. */
export function addPartFields(tx: Transaction, { fields }: PartHead): void {
  for (const field of fields) addField(tx, field);
}

function addField(tx: Transaction, field: PartField): void {
  const { name, value } = field;
  let rest = value.replaceAll(bracketed, '$1');
  if (isNaming(field)) {
    addNames(tx, value);
    rest = rest.replaceAll(namePattern, '');
  }
  if (rest === '' || (name === 'content-disposition' && plainParameters.test(rest))) return;
  if (written[name]?.test(rest) === true) return;
  addArgument(tx, name, rest);
  const decoded = decodeEncodedWords(rest);
  if (decoded !== rest) addArgument(tx, name, decoded);
}

interface NamePiece {
  readonly number: number;
  readonly text: ByteString;
}

function addNames(tx: Transaction, value: ByteString): void {
  const pieces = new Map<string, NamePiece[]>();
  for (const [, word = '', digits = '', quoted, token] of value.matchAll(namePattern)) {
    const what = word.toLowerCase();
    const text = quoted ?? token ?? '';
    addName(tx, what, text);
    if (digits === '') continue;
    const known = pieces.get(what) ?? [];
    if (known.length === 0) pieces.set(what, known);
    known.push({ number: Number(digits), text });
  }
  // Readers join pieces by their numbers (RFC 2231 section 3).
  for (const [what, list] of pieces) {
    if (list.length < 2) continue;
    const sorted = list.toSorted((left, right) => left.number - right.number);
    addName(tx, what, sorted.map(({ text }) => text).join(''));
  }
}

function addName(tx: Transaction, what: string, value: ByteString): void {
  const plain = value.replaceAll(/\\([^])/g, '$1');
  const decoded = value.replaceAll(/%([0-9A-Fa-f]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  for (const text of new Set([value, plain, decoded, decodeEncodedWords(plain)])) {
    if (text === '') continue;
    if (what === 'name') addArgument(tx, '', text);
    else {
      const key = tx.values.appendText('');
      const start = tx.values.appendText(text);
      tx.values.add(SOURCE.file, key, key, start, tx.values.used);
    }
  }
}

/** Adds an argument of the body from texts. */
export function addArgument(tx: Transaction, name: ByteString, value: ByteString): void {
  if (!hasArgumentRoom(tx)) return;
  tx.values.addText(SOURCE.argPost, name, value);
}
