/**
 * Decides how a body is read beside what its Content-Type says, so that nothing passes uninspected
 * because a backend looks at the content and not at its name: as JSON, as XML, as a form, as raw
 * text. Only with `SecInspectUnparsed`. What these readings find wrong is no error of the request.
 */

import type { ByteString } from '../../../../base/byte-string.ts';
import { valueLimits } from '../../../../base/rule-limits.ts';
import type { Transaction } from '../../transaction/transaction.ts';
import { SOURCE } from '../../transaction/values.ts';
import { failBody, readArguments } from './arguments.ts';
import { lastField } from './fields.ts';
import { JsonReader } from './json-reader.ts';
import { addRawText, isText, textEnd } from './raw-text.ts';
import { appendAsUtf8, wideEncodingOf } from './text-encoding.ts';
import { hiddenEncodingReason, xmlEncodingOf } from './xml-encoding.ts';
import { XmlReader } from './xml-reader.ts';

const AMPERSAND = 0x26;
const EQUALS = 0x3d;

/** One a thread: inspection is synchronous, so two documents are never read at once. */
const json = new JsonReader();
const xml = new XmlReader();

/** Media types whose bodies are files where they begin as such: as files of multipart bodies. */
const signatures: readonly (readonly [type: RegExp, begin: RegExp])[] = [
  [/^image\/(?:jpeg|pjpeg)\b/, /^\xff\xd8\xff/],
  [/^image\/(?:png|apng)\b/, /^\x89PNG\r\n\x1a\n/],
  [/^image\/gif\b/, /^GIF8[79]a/],
  [/^(?:image\/webp|audio\/(?:x-)?wav)\b/, /^RIFF[^]{4}W(?:EBP|AVE)/],
  [/^(?:image\/(?:avif|hei[cf])|(?:audio|video)\/(?:mp4|quicktime|x-m4a|3gpp))\b/, /^[^]{4}ftyp/],
  [/^(?:video|audio)\/(?:webm|x-matroska)\b/, /^\x1aE\xdf\xa3/],
  [/^(?:audio|video|application)\/ogg\b/, /^OggS/],
  [/^audio\/(?:mpeg|mp3)\b/, /^(?:ID3|\xff[\xe2-\xff])/],
  [/^application\/pdf\b/, /^%PDF-/],
  [/^application\/(?:zip|java-archive|epub\+zip|vnd\.(?:openxml|oasis)[\w.-]+)\b/, /^PK\x03\x04/],
  [/^application\/(?:gzip|x-gzip)\b/, /^\x1f\x8b/],
  [/^application\/dicom\b/, /^[^]{128}DICM/],
];
const signatureBytes = 132;
/** Media types of text: laxer readers of their content may read past control bytes. */
const textType = /text|json|xml|form|yaml|script|graphql/;

/**
 * Reads a body for which no processor was chosen; true where it is of no form that is known here.
 * Cost: one pass for each reading.
 */
export function readUndeclared(tx: Transaction, start: number, end: number, cut: boolean): boolean {
  return readContent(tx, contentType(tx), start, end, cut);
}

/** The same for content of a media type (lower case). Cost: as `readUndeclared`. */
export function readContent(
  tx: Transaction,
  type: string,
  start: number,
  end: number,
  cut: boolean,
): boolean {
  const [from, whole] = asUtf8(tx, start, end);
  const { slab } = tx.values;
  const begin = slab.latin1Slice(from, Math.min(whole, from + signatureBytes));
  const file = isFile(type, begin);
  // Readers of documents stop at a control byte: binary data holds none after its first.
  const binary = !file && isData(type, slab, from, whole);
  const to = binary ? textEnd(slab, from, whole) : whole;
  if (binary) addRawText(tx, SOURCE.argPost, from, whole, true);
  const first = firstByte(slab, from, to);
  if (first === '{' || first === '[' || first === '"') {
    quietly(tx, () => readJson(tx, from, to, cut));
    return false;
  }
  noteHidden(tx, first, from, whole);
  if (first === '<') {
    quietly(tx, () => xml.read(tx, from, to, cut));
    if (!binary && !/^[^;]*[/+]xml\b/.test(type)) addRawText(tx, SOURCE.argPost, from, to);
    return false;
  }
  if (file) return false;
  if (looksLikeForm(slab, from, to)) {
    quietly(tx, () => readForm(tx, from, to));
    return false;
  }
  if (binary) return true;
  const readable = addRawText(tx, SOURCE.argPost, from, to);
  // Readers of forms take what stands between separators, whatever stands before.
  if (readable && holdsPairs(slab, from, to)) quietly(tx, () => readForm(tx, from, to));
  return true;
}

/** Reads once more what a processor has read, where it looks like something else. */
export function readOtherwise(
  tx: Transaction,
  processorName: string,
  start: number,
  end: number,
  cut: boolean,
): void {
  const first = firstByte(tx.values.slab, start, end);
  noteHidden(tx, first, start, end);
  if (processorName === 'URLENCODED' || (processorName === 'XML' && first !== '<')) {
    if (first === '{' || first === '[' || first === '<') {
      const [from, to] = asUtf8(tx, start, end);
      if (first === '<') quietly(tx, () => xml.read(tx, from, to, cut));
      else quietly(tx, () => readJson(tx, from, to, cut));
    }
  }
  if (processorName === 'JSON' && first === '<') {
    const [from, to] = asUtf8(tx, start, end);
    quietly(tx, () => xml.read(tx, from, to, cut));
    addRawText(tx, SOURCE.argPost, from, to);
  } else if (processorName !== 'URLENCODED' && looksLikeForm(tx.values.slab, start, end)) {
    quietly(tx, () => readForm(tx, start, end));
  } else if (processorName === 'XML' && first !== '<') {
    addRawText(tx, SOURCE.argPost, start, end);
  }
}

/** XML of which the bytes tell nothing: no reading here shows what a backend makes of it. */
function noteHidden(tx: Transaction, first: string, start: number, end: number): void {
  if (first !== '<' && first !== 'L') return;
  const encoding = xmlEncodingOf(tx.values.slab.subarray(start, end));
  if (encoding === 'hidden') failBody(tx, hiddenEncodingReason);
}

/** Reads JSON; what the reader stops at is inspected as text. */
export function readJson(tx: Transaction, start: number, end: number, cut: boolean): void {
  const stopped = json.read(tx, start, end, cut);
  if (stopped < end && tx.settings.inspectsUnparsed) addRawText(tx, SOURCE.argPost, stopped, end);
}

/** Reads `name=value` pairs as arguments of the body. */
export function readForm(tx: Transaction, start: number, end: number): void {
  readArguments(tx, SOURCE.argPost, start, end, tx.settings.argumentSeparator);
}

/** Errors of a reading that nobody asked for say nothing of the request; limits do. */
export function quietly(tx: Transaction, read: () => void): void {
  const { bodyError, bodyErrorMessage, urlEncodedError } = tx;
  read();
  tx.bodyError = bodyError;
  tx.bodyErrorMessage = bodyErrorMessage;
  tx.urlEncodedError = urlEncodedError;
}

/** The body in UTF-8, where it is UTF-16 or UTF-32. */
export function asUtf8(tx: Transaction, start: number, end: number): [from: number, to: number] {
  const wide = wideEncodingOf(tx.values.slab, start, end);
  if (wide === null) return [start, end];
  return [appendAsUtf8(tx.values, start, end, wide), tx.values.used];
}

/** The first byte that is neither white space nor of a byte order mark; '' when there is none. */
export function firstByte(slab: Buffer, start: number, end: number): string {
  let at = start;
  if (slab[at] === 0xef && slab[at + 1] === 0xbb && slab[at + 2] === 0xbf) at += 3;
  while (at < end && (slab[at]! <= 0x20 || slab[at] === 0xa0)) at++;
  return at < end ? String.fromCharCode(slab[at]!) : '';
}

/** A plain name and `=`: bytes that names of fields have, raw or %-encoded. */
export function looksLikeForm(slab: Buffer, start: number, end: number): boolean {
  const last = Math.min(end, start + valueLimits.formNameBytesMax);
  for (let at = start; at < last; at++) {
    const byte = slab[at]!;
    if (byte === EQUALS) return at > start;
    if (byte <= 0x20 || byte === 0x22 || byte === 0x3c || byte === 0x3e || byte > 0x7a)
      return false;
  }
  return false;
}

/** True where `&` and a later `=` stand in the text. */
export function holdsPairs(slab: Buffer, start: number, end: number): boolean {
  const and = slab.indexOf(AMPERSAND, start);
  if (and < 0 || and >= end) return false;
  const equals = slab.indexOf(EQUALS, and);
  return equals >= 0 && equals < end;
}

/** True for content of no type of text that is none: readers of forms end in it. */
export function isData(type: string, slab: Buffer, from = 0, to = slab.length): boolean {
  return !textType.test(type) && !isText(slab, from, to);
}

/** True for a body that begins as files of its media type do. */
export function isFile(type: string, begin: string): boolean {
  return signatures.some(([media, signature]) => media.test(type) && signature.test(begin));
}

/** The last Content-Type in lower case, as the choice of the processor goes by. */
export function contentType(tx: Transaction): string {
  return declaredType(tx).toLowerCase();
}

/** The same as it was sent. */
export function declaredType(tx: Transaction): ByteString {
  return lastField(tx, 'content-type').trim();
}
