/**
 * The MULTIPART body processor: walks the body from boundary to boundary, sets every MULTIPART_*
 * flag, and turns parts into arguments, files and header rows. A part is only a file where every
 * backend reads a file; else its content is an argument, too. Reads on after mistakes, so that what
 * a laxer parser would see is inspected. Copies no content.
 */

import { type ByteString, fromByteString } from '../../../../base/byte-string.ts';
import { valueLimits } from '../../../../base/rule-limits.ts';
import { reachLimit } from '../../transaction/inspection-limits.ts';
import { isSpace, nameIs } from '../../transaction/ascii.ts';
import type { MultipartFlags, Transaction } from '../../transaction/transaction.ts';
import type { BodyProcessorDefinition } from '../../transaction/types.ts';
import { SOURCE } from '../../transaction/values.ts';
import { failBody } from './arguments.ts';
import { readBoundary } from './multipart-boundary.ts';
import { type Disposition, readDisposition } from './multipart-disposition.ts';
import { hasStrictFault, newFlags } from './multipart-flags.ts';
import {
  findByte,
  findControl,
  headerOf,
  isDecisive,
  isPadding,
  isPlainText,
  nameOf,
  skipSpaces,
} from './multipart-headers.ts';
import { addPartArguments, addPartFile } from './multipart-rows.ts';
import { addRawText } from './raw-text.ts';

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
  /** The delimiter stands where it is no boundary. */
  private strayDelimiter = false;
  /** Where the part or the text before the first one begins. */
  private sectionStart: number;
  private quoted = false;
  private flagError = false;
  /** Only what backends read in different ways is an error. */
  private readonly lenient: boolean;
  private twoReadings = false;
  private crlfLine = false;
  private boundaries = 0;
  private parts = 0;
  private complete = false;
  private noFilesBytes = 0;
  private part: Part | null = null;

  constructor(tx: Transaction, start: number, end: number, truncated: boolean) {
    this.tx = tx;
    this.at = start;
    this.sectionStart = start;
    this.end = end;
    this.truncated = truncated;
    this.lenient = tx.settings.inspectsUnparsed;
  }

  read(): void {
    const { flags, tx } = this;
    tx.multipart = flags;
    const reading = readBoundary(contentType(tx));
    const { alike } = reading;
    const boundary = this.lenient ? (alike ?? reading.boundary) : reading.boundary;
    this.quoted = reading.quoted;
    flags.boundaryQuoted = reading.quoted ? 1 : 0;
    flags.boundaryWhitespace = reading.whitespace ? 1 : 0;
    flags.missingSemicolon = reading.missingSemicolon ? 1 : 0;
    flags.ambiguousBoundary = reading.ambiguous ? 1 : 0;
    if (alike === null) this.twoReadings = true;
    if (reading.failure !== null) this.fault(reading.failure, alike === null);
    if (boundary !== '') {
      this.delimiter = fromByteString(`--${boundary}`);
      this.boundary = fromByteString(boundary);
      this.readBody();
    }
    this.setStrictError();
  }

  /** The parent loop: one turn reads one boundary or header line, or the content of one part. */
  private readBody(): void {
    while (this.at < this.end && !this.complete) {
      if (this.parts > valueLimits.multipartPartsMax) {
        reachLimit(this.tx, 'multipart-parts');
        this.fail('Multipart: Too many parts.');
        break;
      }
      const { part, at } = this;
      const stop = this.lineEnd(at);
      const boundaryLike = this.isBoundaryLike(at, stop) && !this.isCutLine(stop);
      if (boundaryLike && this.readBoundaryLine(at, stop)) continue;
      if (part !== null && part.contentStart < 0) this.readHeaderLine(part, at, stop);
      else this.skipContent(stop);
    }
    if (this.complete && this.at < this.end) {
      this.flags.dataAfter = 1;
      this.readOutside(this.at, this.end, this.delimiter);
    }
    if (this.complete) return;
    this.findStrayDelimiter(this.truncated ? this.lastLineStart() : this.end);
    this.finishPart(this.end);
    if (this.truncated) return this.endCut();
    const found = this.boundaries > 0;
    failBody(
      this.tx,
      found ? 'Multipart: Final boundary missing.' : 'Multipart: No boundaries found in payload.',
    );
  }

  /** A part that continues may hold lines that look like boundaries, as a whole one may. */
  private endCut(): void {
    const { flags } = this;
    if (!this.lenient || this.boundaries === 0 || this.strayDelimiter) return;
    if (flags.unmatchedBoundary === 1) flags.unmatchedBoundary = 2;
  }

  /** The last line of a body that exceeds our limit may be a boundary. */
  private lastLineStart(): number {
    return this.tx.values.slab.lastIndexOf(LF, this.end - 1) + 1;
  }

  /** Offset after the line that starts at `at`. */
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

  /** True for the last line of a body that exceeds our limit. */
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
      // All take blanks after the last boundary, and go by the boundary alone.
      const blanksOnly = final && isPadding(slab, rest, stop);
      this.fault('Multipart: Invalid boundary.', !blanksOnly);
      if (!blanksOnly || !this.lenient) return false;
    }
    this.findStrayDelimiter(at);
    if (this.boundaries > 0 && flags.unmatchedBoundary === 1 && !this.strayDelimiter) {
      flags.unmatchedBoundary = 2;
    }
    // Some parsers want CRLF before a boundary, too.
    const afterLf = at > this.sectionStart && slab[at - 2] !== CR;
    if (lf || afterLf) flags.lfLine = 1;
    if (this.boundaries === 0 && at > this.sectionStart) {
      if (at < this.sectionStart + 2) flags.lfLine = 1;
      this.readOutside(this.sectionStart, at, noBytes);
    }
    if (crlf) this.crlfLine = true;
    this.finishPart(at);
    this.boundaries++;
    this.complete = final;
    this.part = final ? null : { lines: [], names: new Set(), disposition: null, contentStart: -1 };
    if (!final) this.parts++;
    this.at = stop;
    this.sectionStart = stop;
    return true;
  }

  /**
   * Looks for the delimiter in the section that ends at `end`. Some parsers end a part there: after
   * a bare CR, within a line, in a header. MULTIPART_UNMATCHED_BOUNDARY is 1 then, and stays so.
   * Cost: one native search.
   */
  private findStrayDelimiter(end: number): void {
    if (this.strayDelimiter || this.twoReadings) return;
    const section = this.tx.values.slab.subarray(this.sectionStart, end);
    if (!section.includes(this.delimiter)) return;
    this.strayDelimiter = true;
    this.flags.unmatchedBoundary = 1;
  }

  /**
   * Text before the first boundary or after the last. Django reads a part wherever it finds a
   * Content-Disposition; busboy and Django read parts after the last boundary. No backend hands on
   * other text, but it is inspected, as an argument without a name.
   */
  private readOutside(start: number, end: number, delimiter: Buffer): void {
    this.noFilesBytes += end - start;
    if (!this.lenient || this.isPastNoFilesLimit()) return;
    const { slab } = this.tx.values;
    if (skipSpaces(slab, start, end) === end) return;
    const text = slab.latin1Slice(start, end);
    if (/content-disposition/i.test(text)) this.twoReadings = true;
    if (delimiter.length > 0 && slab.subarray(start, end).includes(delimiter)) {
      this.twoReadings = true;
    }
    addRawText(this.tx, SOURCE.argPost, start, end);
  }

  /** A line that begins like a boundary but is another one. */
  private noteUnmatched(at: number, stop: number): void {
    const { slab } = this.tx.values;
    if (this.quoted && slab[at + 2] === 0x22 && this.matchesAt(at + 3, stop, this.boundary)) {
      this.fault('Multipart: Invalid boundary (quotes).', this.twoReadings);
      return;
    }
    let from = at + 2;
    while (from < stop && isSpace(slab[from]!)) from++;
    if (from > at + 2 && this.matchesAt(from, stop, this.boundary)) {
      this.fault('Multipart: Invalid boundary (whitespace).', this.twoReadings);
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
   * Passes over content up to the next line that begins with two dashes. Cost: native searches.
   */
  private skipContent(stop: number): void {
    const { slab } = this.tx.values;
    if (this.part === null) this.flags.dataBefore = 1;
    let next = stop;
    if (stop < this.end && (slab[stop] !== DASH || slab[stop + 1] !== DASH)) {
      const dashes = slab.indexOf(dashedLine, stop);
      next = dashes < 0 || dashes + 1 >= this.end ? this.end : dashes + 1;
    }
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
      reachLimit(this.tx, 'multipart-header-bytes');
      this.fail('Multipart: Part header line too long.');
    }
    const folded = isSpace(slab[at]!);
    const control = findControl(slab, folded ? skipSpaces(slab, at, end) : at, end);
    if (control < end) {
      const which = slab[control] === 0 ? 'Nul byte' : 'Control character';
      this.fail(`Multipart: ${which} in part headers.`);
    }
    if (folded) this.foldLine(part, at, end);
    else this.addHeaderLine(part, at, end);
  }

  private addHeaderLine(part: Part, at: number, end: number): void {
    const { slab } = this.tx.values;
    if (part.lines.length >= valueLimits.multipartPartHeadersMax) {
      reachLimit(this.tx, 'multipart-part-headers');
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
    if (part.names.has(name)) this.fault('Multipart: Duplicate part header.', isDecisive(name));
    part.names.add(name);
  }

  /** RFC 2045 folding: joined with one blank, as one line after the used slab. */
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
    // Django drops the line, or reads a header in it.
    const name = nameOf(values.slab, last);
    const dropped = isDecisive(name) && name !== 'content-type';
    if (dropped || findByte(values.slab, COLON, from, end) < end) this.twoReadings = true;
    if (last[1] - last[0] + end - from > valueLimits.multipartHeaderBytesMax) {
      return this.fail('Multipart: Part header too long.');
    }
    values.reserve(last[1] - last[0] + 1 + end - from);
    // The line is moved once; further folds are written right after it.
    if (last[1] !== values.used) last[0] = values.append(values.slab, last[0], last[1]);
    values.appendText(' ');
    values.append(values.slab, from, end);
    last[1] = values.used;
  }

  private endHeaders(part: Part): void {
    const { slab } = this.tx.values;
    part.contentStart = this.at;
    const value = headerOf(slab, part.lines, 'content-disposition');
    if (value === null) return this.fail('Multipart: Part missing Content-Disposition header.');
    const disposition = readDisposition(value);
    part.disposition = disposition;
    if (disposition.kind === 'field' && !isPlainText(slab, part.lines)) disposition.kind = 'either';
    this.judgeDisposition(disposition);
    if (disposition.name !== '') this.flags.names.push(disposition.name);
    for (const name of [disposition.fileName, disposition.extendedFileName]) {
      if (name !== '') this.flags.fileNames.push(name);
    }
  }

  private judgeDisposition({ alike, invalidQuoting, failure, name, kind }: Disposition): void {
    if (invalidQuoting) this.flags.invalidQuoting = 1;
    if (invalidQuoting && !alike) this.twoReadings = true;
    if (failure !== null) {
      this.flags.invalidPart = 1;
      this.fault(failure, !alike);
      if (!alike) return;
    }
    if (name === '') this.fail('Multipart: Content-Disposition header missing name field.');
    else if (kind === 'either') this.flags.ambiguousPart = 1;
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
    const { disposition } = part;
    const kind = disposition?.kind ?? 'either';
    const content = { disposition, keyStart, keyEnd, start, end };
    if (kind !== 'field') addPartFile(this.tx, this.flags, content);
    if (kind === 'file' && (end === start || disposition!.fileName !== '')) return;
    // A file without a name but with content is a field to some.
    if (kind === 'file') this.flags.ambiguousPart = 1;
    this.noFilesBytes += end - start;
    addPartArguments(this.tx, content);
  }

  /** The line end in front of a boundary belongs to the boundary. */
  private contentEnd(start: number, boundary: number): number {
    const { slab } = this.tx.values;
    if (boundary === this.end && this.truncated) return boundary;
    if (boundary <= start || slab[boundary - 1] !== LF) return boundary;
    return boundary - 2 >= start && slab[boundary - 2] === CR ? boundary - 2 : boundary - 1;
  }

  private isPastNoFilesLimit(): boolean {
    const limit = this.tx.settings.requestBodyNoFilesLimitBytes;
    return limit > 0 && this.noFilesBytes > limit;
  }

  private setStrictError(): void {
    const { flags, tx } = this;
    if (this.isPastNoFilesLimit()) {
      failBody(tx, 'Request body excluding files is bigger than the maximum expected.');
    }
    flags.crlfLfLines = this.crlfLine && flags.lfLine === 1 ? 1 : 0;
    flags.strictError = this.flagError || hasStrictFault(flags) ? 1 : 0;
    const { lfLine, invalidHeaderFolding, fileLimitExceeded } = flags;
    const differs = this.twoReadings || lfLine + invalidHeaderFolding + fileLimitExceeded > 0;
    flags.twoReadings = differs ? 1 : 0;
  }

  private fail(reason: string): void {
    this.fault(reason, true);
  }

  /** What ModSecurity takes for an error; `differs` says that backends read it differently, too. */
  private fault(reason: string, differs: boolean): void {
    this.flagError = true;
    if (this.lenient && !differs) return;
    this.twoReadings = true;
    failBody(this.tx, reason);
  }
}

/** The boundary of the request where every reader reads the same; else ''. */
export function clearBoundary(tx: Transaction): ByteString {
  return readBoundary(contentType(tx)).alike ?? '';
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
