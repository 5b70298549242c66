/**
 * Reads multipart bodies of other types than form-data (related, mixed, alternative and kin) as
 * their parts, each by its own Content-Type: JSON, XML, forms, text, files, HTTP requests and
 * messages, and multipart types in them. What readers may cut in other places is marked as having
 * two readings, and is then inspected as one text, too. Only with `SecInspectUnparsed`.
 * Source: RFC 2046 section 5.1; RFC 2387; RFC 9112 for application/http.
 */

import type { ByteString } from '../../../../base/byte-string.ts';
import { valueLimits } from '../../../../base/rule-limits.ts';
import {
  readParts,
  showsItsCharacters,
  showsItsNames,
} from '../../../base/multipart-content-type.ts';
import {
  fieldOf,
  mediaTypeOf,
  readBoundaryLine,
  readPartHead,
  type PartHead,
} from '../../../base/part-reader.ts';
import { reachLimit } from '../../transaction/inspection-limits.ts';
import type { Transaction } from '../../transaction/transaction.ts';
import { SOURCE } from '../../transaction/values.ts';
import { failBody, hasArgumentRoom } from './arguments.ts';
import { newFlags } from './multipart-flags.ts';
import { skipSpaces } from './multipart-headers.ts';
import { addArgument, addPartFields, isNaming } from './part-fields.ts';
import { decodeBase64, decodeQuotedPrintable } from './part-encoding.ts';
import { addRawText } from './raw-text.ts';
import { wideEncodingOf } from './text-encoding.ts';
import { declaredType, quietly, readContent, readForm } from './unparsed.ts';

const LF = 0x0a;

const transferEncoding = 'content-transfer-encoding';
const form = 'application/x-www-form-urlencoded';
/** Clients leave out the version, or the path down to the service. */
const requestLine = /^[A-Z]{1,32} +(?:(\S+) +HTTP\/\d(?:\.\d)?|((?:https?:\/)?\/\S*)) *$/;
const statusLine = /^HTTP\/\d(?:\.\d)? \d{3}(?: [^\x00-\x1f]*)?$/;
const authority = /^https?:\/\/[\w.-]+(?::\d+)?(?=[/?#]|$)/i;
/** Message of a body that no reading here shows; a rule of every policy refuses it. */
const hidden = 'Multipart: an encoding that is not read';

/**
 * True where the body was read as its parts; false where it is another one, or readers may find
 * other parts: then it is to be read as a whole as well. Cost: native searches, and one pass for
 * each reading of a part.
 */
export function readMixedBody(tx: Transaction, start: number, end: number, cut: boolean): boolean {
  const reading = readParts(declaredType(tx));
  if (reading.kind === 'none') return false;
  const reader = new MixedReader(tx);
  let found = false;
  if (reading.kind === 'boundary') {
    found = reader.multipart(start, end, reading.boundary, cut, 0);
  } else reader.unclear = true;
  if (reader.hidden) failBody(tx, hidden);
  if (reader.unclear) {
    tx.multipart = newFlags();
    tx.multipart.twoReadings = 1;
    tx.multipart.readingsReason = 'where its parts begin, or what they are';
  }
  return found && !reader.unclear;
}

/**
 * True where a window over a long body shows parts and was read as them: what stands before the
 * first boundary continues a part of which the head is not here. Cost: as `readMixedBody`.
 */
export function readMixedWindow(tx: Transaction, start: number, end: number): boolean {
  const reading = readParts(declaredType(tx));
  if (reading.kind !== 'boundary') return false;
  const reader = new MixedReader(tx);
  return reader.multipart(start, end, reading.boundary, true, 0) && !reader.unclear;
}

class MixedReader {
  /** Readers may find other parts, or other fields of them. */
  unclear = false;
  /** Some content does not show its characters. */
  hidden = false;
  private readonly tx: Transaction;
  private parts = 0;

  constructor(tx: Transaction) {
    this.tx = tx;
  }

  /** False where the boundary stands nowhere. */
  multipart(
    start: number,
    end: number,
    boundary: ByteString,
    cut: boolean,
    depth: number,
  ): boolean {
    const delimiter = Buffer.from(`--${boundary}`, 'latin1');
    let section = start;
    let found = false;
    let complete = false;
    for (let at = start; ;) {
      const next = this.tx.values.slab.indexOf(delimiter, at);
      if (next < 0 || next + delimiter.length > end) break;
      const { slab } = this.tx.values;
      const line = readBoundaryLine(slab, start, next, end, delimiter.length);
      // The last line of a body that exceeds our limit may be anything.
      if (line === null && cut && next + delimiter.length + 4 > end) break;
      if (line === null || complete) {
        this.unclear = true;
        at = next + 1;
        continue;
      }
      this.section(section, Math.max(section, line.contentEnd), found, false, depth);
      found = true;
      complete = line.final;
      section = line.next;
      at = line.next;
    }
    if (!found) return false;
    if (!complete && !cut) this.unclear = true;
    this.section(section, end, !complete, cut, depth);
    return true;
  }

  /** A part, or what stands before the first or after the last. */
  private section(start: number, end: number, isPart: boolean, cut: boolean, depth: number): void {
    if (isPart) {
      if (++this.parts <= valueLimits.multipartPartsMax) return this.part(start, end, cut, depth);
      reachLimit(this.tx, 'multipart-parts');
    }
    if (skipSpaces(this.tx.values.slab, start, end) < end)
      readContent(this.tx, '', start, end, cut);
  }

  private part(start: number, end: number, cut: boolean, depth: number): void {
    const { tx } = this;
    const head = readPartHead(tx.values.slab, start, end, cut);
    if (head.limit !== null) reachLimit(tx, head.limit);
    if (head.unclear) this.unclear = true;
    if (!head.fields.every((one) => !isNaming(one) || showsItsNames(one.value))) this.hidden = true;
    addPartFields(tx, head);
    this.addHeaderRows(head);
    const from = head.contentStart;
    const encoding = fieldOf(head, transferEncoding).toLowerCase();
    const decode = decoders[encoding];
    if (decode === undefined) return this.content(head, from, end, cut, depth);
    const decoded = decode(tx.values, from, end);
    if (decoded === null || encoding === 'quoted-printable') {
      readContent(tx, mediaTypeOf(fieldOf(head, 'content-type')), from, end, cut);
    }
    if (decoded !== null) this.content(head, decoded, tx.values.used, cut, depth);
  }

  /** Lines that are no field, for rules on headers of parts; the others are arguments. */
  private addHeaderRows({ fields }: PartHead): void {
    const { values } = this.tx;
    for (const { name, value } of fields) {
      if (name === '') values.addText(SOURCE.multipartPartHeader, '', value);
    }
  }

  private content(head: PartHead, start: number, end: number, cut: boolean, depth: number): void {
    const { tx } = this;
    if (skipSpaces(tx.values.slab, start, end) === end) return;
    const declared = fieldOf(head, 'content-type');
    const isWide = wideEncodingOf(tx.values.slab, start, end) !== null;
    if (!showsItsCharacters(declared, isWide)) this.hidden = true;
    const type = mediaTypeOf(declared);
    const nested = readParts(declared);
    const holder = nested.kind !== 'none' || /^(?:application\/http|message\/)/.test(type);
    if (holder && depth >= valueLimits.multipartDepthMax) {
      reachLimit(tx, 'multipart-depth');
      addRawText(tx, SOURCE.argPost, start, end);
    } else if (nested.kind === 'boundary') {
      const found = this.multipart(start, end, nested.boundary, cut, depth + 1);
      if (!found) readContent(tx, type, start, end, cut);
    } else if (nested.kind === 'differs') {
      this.unclear = true;
      readContent(tx, type, start, end, cut);
    } else if (type === 'application/http') this.http(start, end, cut, depth + 1);
    else if (type === 'message/rfc822' || type === 'message/global') {
      this.part(start, end, cut, depth + 1);
    } else this.plain(type, start, end, cut);
  }

  private plain(type: ByteString, start: number, end: number, cut: boolean): void {
    const { tx } = this;
    if (type !== form) {
      readContent(tx, type, start, end, cut);
      return;
    }
    quietly(tx, () => readForm(tx, start, end));
    const first = tx.values.slab[skipSpaces(tx.values.slab, start, end)]!;
    if ('{[<'.includes(String.fromCharCode(first))) readContent(tx, '', start, end, cut);
  }

  /** A request of a batch: its path, its query, its fields and its body. */
  private http(start: number, end: number, cut: boolean, depth: number): void {
    const { tx } = this;
    const from = skipSpaces(tx.values.slab, start, end);
    const found = tx.values.slab.indexOf(LF, from);
    const stop = found < 0 || found >= end ? end : found;
    const line = tx.values.slab.latin1Slice(from, stop).replace(/\r$/, '');
    const request = requestLine.exec(line);
    if (request !== null) this.target(request[1] ?? request[2]!);
    else if (!statusLine.test(line)) {
      if (!cut || stop < end) this.unclear = true;
      readContent(tx, '', start, end, cut);
      return;
    }
    if (stop < end) this.part(stop + 1, end, cut, depth);
  }

  private target(target: ByteString): void {
    const { tx } = this;
    const local = target.replace(authority, '');
    const mark = local.indexOf('?');
    const path = mark < 0 ? local : local.slice(0, mark);
    if (path !== '' && path !== '/') addArgument(tx, '', path);
    if (mark < 0 || !hasArgumentRoom(tx)) return;
    const start = tx.values.appendText(local.slice(mark + 1));
    quietly(tx, () => readForm(tx, start, tx.values.used));
  }
}

const decoders: Readonly<Record<string, typeof decodeBase64>> = {
  base64: decodeBase64,
  'quoted-printable': decodeQuotedPrintable,
};
