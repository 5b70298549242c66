/**
 * Owns the MULTIPART body processor: walks the body from boundary to boundary, sets every
 * MULTIPART_* flag, and turns parts into arguments, files and header rows. Reads on behind
 * mistakes, so that what a laxer parser would see is inspected, too. Copies no content.
 */

import { type ByteString, fromByteString } from '../../../base/byte-string.ts';
import { valueLimits } from '../../../base/limits.ts';
import { isSpace } from '../load/cookies.ts';
import { nameIs } from '../load/names.ts';
import type { MultipartFlags, Transaction } from '../transaction.ts';
import type { BodyProcessorDefinition } from '../types.ts';
import { SOURCE } from '../values.ts';
import { failBody, hasArgumentRoom } from './arguments.ts';
import { readBoundary } from './multipart-boundary.ts';
import { type Disposition, readDisposition } from './multipart-disposition.ts';

const LF = 0x0a;
const CR = 0x0d;
const DASH = 0x2d;
const COLON = 0x3a;

const noBytes: Buffer = Buffer.alloc(0);
/** What content is searched for: the next line that may be a boundary. */
const dashedLine: Buffer = Buffer.from('\n--');
/** Line ends are looked for so far before the native search is worth its call. */
const nearBytes = 64;

/** What a Content-Type of multipart/form-data asks for. */
export const multipartBody: BodyProcessorDefinition = {
  name: 'MULTIPART',
  summary: 'Form fields become arguments, files become FILES; strict about every ambiguity.',
  example: 'ctl:requestBodyProcessor=MULTIPART',
  source: 'RFC 7578 and RFC 2046; flags as ModSecurity v3 sets them',
  process(tx: Transaction, start: number, end: number, truncated: boolean): void {
    new MultipartReader(tx, start, end, truncated).read();
  },
};

/** A part whose header section has begun. Offsets are into the slab. */
interface Part {
  /** Start and end of each header line, without its line end. */
  readonly lines: [number, number][];
  readonly names: Set<string>;
  disposition: Disposition | null;
  /** -1 while the header section lasts. */
  contentStart: number;
}

class MultipartReader {
  private readonly tx: Transaction;
  private readonly end: number;
  private readonly truncated: boolean;
  private readonly flags: MultipartFlags = newFlags();
  private at: number;
  private delimiter: Buffer = noBytes;
  private boundary: Buffer = noBytes;
  private nextDelimiter = -1;
  private quoted = false;
  private flagError = false;
  private crlfLine = false;
  private boundaries = 0;
  private parts = 0;
  private complete = false;
  private noFilesBytes = 0;
  private part: Part | null = null;

  constructor(tx: Transaction, start: number, end: number, truncated: boolean) {
    this.tx = tx;
    this.at = start;
    this.end = end;
    this.truncated = truncated;
  }

  read(): void {
    const { flags, tx } = this;
    tx.multipart = flags;
    const reading = readBoundary(contentType(tx));
    this.quoted = reading.quoted;
    flags.boundaryQuoted = reading.quoted ? 1 : 0;
    flags.boundaryWhitespace = reading.whitespace ? 1 : 0;
    flags.missingSemicolon = reading.missingSemicolon ? 1 : 0;
    if (reading.failure === null) {
      this.delimiter = fromByteString(`--${reading.boundary}`);
      this.boundary = fromByteString(reading.boundary);
      this.readBody();
    } else {
      this.fail(reading.failure);
    }
    this.setStrictError();
  }

  /** The parent loop: one turn reads one boundary or header line, or the content of one part. */
  private readBody(): void {
    while (this.at < this.end && !this.complete) {
      if (this.parts > valueLimits.multipartPartsMax) {
        this.fail('Multipart: Too many parts.');
        break;
      }
      const { part, at } = this;
      const stop = this.lineEnd(at);
      const boundaryLike = this.isBoundaryLike(at, stop) && !this.isCutLine(stop);
      if (boundaryLike && this.readBoundaryLine(at, stop)) continue;
      if (part !== null && part.contentStart < 0) this.readHeaderLine(part, at, stop);
      else this.skipContent(at, stop);
    }
    if (this.complete && this.at < this.end) this.flags.dataAfter = 1;
    if (this.complete) return;
    this.finishPart(this.end);
    if (this.truncated) return;
    const found = this.boundaries > 0;
    failBody(
      this.tx,
      found ? 'Multipart: Final boundary missing.' : 'Multipart: No boundaries found in payload.',
    );
  }

  /** Offset behind the line that starts at `at`. */
  private lineEnd(at: number): number {
    const { slab } = this.tx.values;
    const near = Math.min(this.end, at + nearBytes);
    for (let i = at; i < near; i++) if (slab[i] === LF) return i + 1;
    const newline = near === this.end ? -1 : slab.indexOf(LF, near);
    return newline < 0 || newline >= this.end ? this.end : newline + 1;
  }

  private isBoundaryLike(at: number, stop: number): boolean {
    const { slab } = this.tx.values;
    return stop - at > 3 && slab[at] === DASH && slab[at + 1] === DASH;
  }

  /** True for the last line of a body that goes on behind our limit. */
  private isCutLine(stop: number): boolean {
    return this.truncated && stop === this.end && this.tx.values.slab[stop - 1] !== LF;
  }

  /** True when the line was a boundary and is dealt with; else it is content, and flagged. */
  private readBoundaryLine(at: number, stop: number): boolean {
    const { slab } = this.tx.values;
    const { delimiter, flags } = this;
    if (!this.matchesAt(at, stop, delimiter)) {
      this.noteUnmatched(at, stop);
      return false;
    }
    let rest = at + delimiter.length;
    const final = stop - rest >= 2 && slab[rest] === DASH && slab[rest + 1] === DASH;
    if (final) rest += 2;
    const crlf = stop - rest === 2 && slab[rest] === CR && slab[rest + 1] === LF;
    const lf = stop - rest === 1 && slab[rest] === LF;
    const atEnd = final && rest === stop;
    if (!crlf && !lf && !atEnd) {
      this.fail('Multipart: Invalid boundary.');
      return false;
    }
    if (this.boundaries > 0 && flags.unmatchedBoundary === 1) flags.unmatchedBoundary = 2;
    if (lf) flags.lfLine = 1;
    if (crlf) this.crlfLine = true;
    this.finishPart(at);
    this.boundaries++;
    this.complete = final;
    this.part = final ? null : { lines: [], names: new Set(), disposition: null, contentStart: -1 };
    if (!final) this.parts++;
    this.at = stop;
    return true;
  }

  /** A line that begins like a boundary but is another one. */
  private noteUnmatched(at: number, stop: number): void {
    const { slab } = this.tx.values;
    if (this.quoted && slab[at + 2] === 0x22 && this.matchesAt(at + 3, stop, this.boundary)) {
      this.fail('Multipart: Invalid boundary (quotes).');
      return;
    }
    let from = at + 2;
    while (from < stop && isSpace(slab[from]!)) from++;
    if (from > at + 2 && this.matchesAt(from, stop, this.boundary)) {
      this.fail('Multipart: Invalid boundary (whitespace).');
      return;
    }
    this.flags.unmatchedBoundary = 1;
  }

  private matchesAt(at: number, stop: number, bytes: Buffer): boolean {
    if (stop - at < bytes.length) return false;
    const { slab } = this.tx.values;
    for (let i = 0; i < bytes.length; i++) if (slab[at + i] !== bytes[i]) return false;
    return true;
  }

  /**
   * Passes over content up to the next line that begins with two dashes. Cost: native searches,
   * each byte at most twice.
   */
  private skipContent(at: number, stop: number): void {
    const { slab } = this.tx.values;
    if (this.part === null) this.flags.dataBefore = 1;
    let next = stop;
    if (stop < this.end && (slab[stop] !== DASH || slab[stop + 1] !== DASH)) {
      const dashes = slab.indexOf(dashedLine, stop);
      next = dashes < 0 || dashes + 1 >= this.end ? this.end : dashes + 1;
    }
    const from = this.isBoundaryLike(at, stop) || this.isCutLine(stop) ? stop : at;
    if (this.nextDelimiter < from && this.nextDelimiter !== this.end) {
      const found = slab.indexOf(this.delimiter, from);
      this.nextDelimiter = found < 0 || found >= this.end ? this.end : found;
    }
    if (this.nextDelimiter < next) this.flags.unmatchedBoundary = 1;
    this.at = next;
  }

  private readHeaderLine(part: Part, at: number, stop: number): void {
    const { slab } = this.tx.values;
    const { flags } = this;
    this.at = stop;
    if (this.isCutLine(stop)) {
      part.lines.push([at, stop]);
      return;
    }
    let end = stop;
    const hasEnd = slab[stop - 1] === LF;
    if (hasEnd) end--;
    const crlf = hasEnd && end > at && slab[end - 1] === CR;
    if (crlf) end--;
    if (crlf) this.crlfLine = true;
    else if (hasEnd) flags.lfLine = 1;
    this.noFilesBytes += stop - at;
    if (end === at) {
      this.endHeaders(part);
      return;
    }
    if (end - at > valueLimits.multipartHeaderBytesMax) {
      this.fail('Multipart: Part header line too long.');
    }
    if (findByte(slab, 0, at, end) < end) this.fail('Multipart: Nul byte in part headers.');
    if (isSpace(slab[at]!)) this.foldLine(part, at, end);
    else this.addHeaderLine(part, at, end);
  }

  private addHeaderLine(part: Part, at: number, end: number): void {
    const { slab } = this.tx.values;
    if (part.lines.length >= valueLimits.multipartPartHeadersMax) {
      this.fail('Multipart: Too many part headers.');
      return;
    }
    part.lines.push([at, end]);
    let colon = at;
    let valid = true;
    for (; colon < end && slab[colon] !== COLON; colon++) {
      if (slab[colon]! < 0x21 || slab[colon]! > 0x7e) valid = false;
    }
    if (colon === end) return this.fail('Multipart: Invalid part header (colon missing).');
    if (colon === at) return this.fail('Multipart: Invalid part header (header name missing).');
    if (!valid) this.fail('Multipart: Invalid part header (contains invalid character).');
    const name = slab.latin1Slice(at, colon).toLowerCase();
    if (part.names.has(name)) this.fail('Multipart: Duplicate part header.');
    part.names.add(name);
  }

  /** RFC 2045 folding: joined with one blank, as one line behind the used slab. */
  private foldLine(part: Part, at: number, end: number): void {
    const { values } = this.tx;
    const { flags } = this;
    flags.headerFolding = 1;
    const last = part.lines.at(-1);
    let from = at;
    for (; from < end && isSpace(values.slab[from]!); from++) {
      const byte = values.slab[from];
      if (byte !== 0x20 && byte !== 0x09) flags.invalidHeaderFolding = 1;
    }
    if (last === undefined) return this.fail('Multipart: Invalid part header (folding error).');
    if (last[1] - last[0] + end - from > valueLimits.multipartHeaderBytesMax) {
      return this.fail('Multipart: Part header too long.');
    }
    values.reserve(last[1] - last[0] + 1 + end - from);
    // The line is moved once; further folds are written right behind it.
    if (last[1] !== values.used) last[0] = values.append(values.slab, last[0], last[1]);
    values.appendText(' ');
    values.append(values.slab, from, end);
    last[1] = values.used;
  }

  private endHeaders(part: Part): void {
    const { slab } = this.tx.values;
    part.contentStart = this.at;
    let value: ByteString | null = null;
    for (const [start, end] of part.lines) {
      const colon = findByte(slab, COLON, start, end);
      if (colon === end || !nameIs(slab, start, colon, 'content-disposition')) continue;
      value = slab.latin1Slice(colon + 1, end).trim();
      break;
    }
    if (value === null) return this.fail('Multipart: Part missing Content-Disposition header.');
    const disposition = readDisposition(value);
    part.disposition = disposition;
    if (disposition.invalidQuoting) this.flags.invalidQuoting = 1;
    if (disposition.failure !== null) {
      this.flags.invalidPart = 1;
      this.fail(disposition.failure);
    } else if (disposition.name === '') {
      this.fail('Multipart: Content-Disposition header missing name field.');
    }
    if (disposition.name !== '') this.flags.names.push(disposition.name);
    for (const name of [disposition.fileName, disposition.extendedFileName]) {
      if (name !== '') this.flags.fileNames.push(name);
    }
  }

  /** Adds the rows of the part that ends in front of `boundary`, if there is one. */
  private finishPart(boundary: number): void {
    const { part } = this;
    if (part === null) return;
    this.part = null;
    const { values } = this.tx;
    const name = part.disposition?.name ?? '';
    const cutHeaders = this.truncated && boundary === this.end && part.contentStart < 0;
    if (name === '' && !cutHeaders) this.flags.invalidPart = 1;
    const keyStart = values.appendText(name);
    const keyEnd = values.used;
    for (const [start, end] of part.lines) {
      values.add(SOURCE.multipartPartHeader, keyStart, keyEnd, start, end);
    }
    if (part.contentStart < 0) {
      if (!cutHeaders) this.fail('Multipart: Part headers without their end.');
      return;
    }
    const start = part.contentStart;
    const end = Math.max(start, this.contentEnd(start, boundary));
    const files = [part.disposition?.fileName, part.disposition?.extendedFileName];
    const fileNames = files.filter((file) => file !== undefined && file !== '') as ByteString[];
    if (fileNames.length > 0) {
      this.addFile(name, fileNames, keyStart, keyEnd, start, end);
      return;
    }
    this.noFilesBytes += end - start;
    if (hasArgumentRoom(this.tx)) values.add(SOURCE.argPost, keyStart, keyEnd, start, end);
  }

  /** The line end in front of a boundary belongs to the boundary. */
  private contentEnd(start: number, boundary: number): number {
    const { slab } = this.tx.values;
    if (boundary === this.end && this.truncated) return boundary;
    if (boundary <= start || slab[boundary - 1] !== LF) return boundary;
    return boundary - 2 >= start && slab[boundary - 2] === CR ? boundary - 2 : boundary - 1;
  }

  private addFile(
    field: ByteString,
    fileNames: readonly ByteString[],
    keyStart: number,
    keyEnd: number,
    start: number,
    end: number,
  ): void {
    const { tx, flags } = this;
    for (const fileName of fileNames) {
      const at = tx.values.appendText(fileName);
      tx.values.add(SOURCE.file, keyStart, keyEnd, at, tx.values.used);
    }
    tx.files.push({ field, fileName: fileNames[0]!, sizeBytes: end - start, start, end });
    if (tx.files.length <= tx.settings.uploadFilesMax) return;
    flags.fileLimitExceeded = 1;
    failBody(tx, 'Multipart: Upload file limit exceeded.');
  }

  private setStrictError(): void {
    const { flags, tx } = this;
    const limit = tx.settings.requestBodyNoFilesLimitBytes;
    if (limit > 0 && this.noFilesBytes > limit) {
      failBody(tx, 'Request body excluding files is bigger than the maximum expected.');
    }
    flags.crlfLfLines = this.crlfLine && flags.lfLine === 1 ? 1 : 0;
    const strict =
      this.flagError ||
      flags.boundaryQuoted + flags.boundaryWhitespace + flags.missingSemicolon > 0 ||
      flags.dataBefore + flags.dataAfter + flags.lfLine + flags.invalidPart > 0 ||
      flags.headerFolding + flags.invalidHeaderFolding + flags.invalidQuoting > 0 ||
      flags.fileLimitExceeded > 0;
    flags.strictError = strict ? 1 : 0;
  }

  private fail(reason: string): void {
    this.flagError = true;
    failBody(this.tx, reason);
  }
}

/** Offset of the first such byte in [start, end), or `end`. */
function findByte(bytes: Uint8Array, byte: number, start: number, end: number): number {
  let at = start;
  while (at < end && bytes[at] !== byte) at++;
  return at;
}

/** The last Content-Type, as the choice of the processor goes by. */
function contentType(tx: Transaction): ByteString {
  const { values } = tx;
  let value = '';
  for (const row of values.rowsOf(SOURCE.requestHeader)) {
    if (nameIs(values.slab, values.keyStart[row]!, values.keyEnd[row]!, 'content-type')) {
      value = values.value(row);
    }
  }
  return value;
}

function newFlags(): MultipartFlags {
  return {
    strictError: 0,
    unmatchedBoundary: 0,
    boundaryQuoted: 0,
    boundaryWhitespace: 0,
    dataBefore: 0,
    dataAfter: 0,
    headerFolding: 0,
    lfLine: 0,
    crlfLfLines: 0,
    missingSemicolon: 0,
    invalidQuoting: 0,
    invalidPart: 0,
    invalidHeaderFolding: 0,
    fileLimitExceeded: 0,
    names: [],
    fileNames: [],
  };
}
