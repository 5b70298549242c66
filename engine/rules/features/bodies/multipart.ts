/**
 * The MULTIPART body processor: walks the body from boundary to boundary, sets every MULTIPART_*
 * flag, and turns parts into arguments, files and header rows. A part is only a file where every
 * backend reads a file; else its content is an argument, too. Reads on after mistakes, so that what
 * a laxer parser would see is inspected. Copies no content.
 */

import { type ByteString, fromByteString } from '../../../../base/byte-string.ts';
import { valueLimits } from '../../../../base/rule-limits.ts';
import { isPadding, mayHoldPart } from '../../../base/part-reader.ts';
import { reachLimit } from '../../transaction/inspection-limits.ts';
import { isSpace } from '../../transaction/ascii.ts';
import type { MultipartFlags, Transaction } from '../../transaction/transaction.ts';
import type { BodyProcessorDefinition } from '../../transaction/types.ts';
import { SOURCE } from '../../transaction/values.ts';
import { failBody } from './arguments.ts';
import { lastField } from './fields.ts';
import { readBoundary } from './multipart-boundary.ts';
import { MultipartFaults } from './multipart-faults.ts';
import { skipSpaces } from './multipart-headers.ts';
import { MultipartPart } from './multipart-part.ts';
import { addPartArguments, addPartFile } from './multipart-rows.ts';
import { addRawText } from './raw-text.ts';

const LF = 0x0a;
const CR = 0x0d;
const DASH = 0x2d;

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

class MultipartReader {
  private readonly tx: Transaction;
  private readonly end: number;
  private readonly truncated: boolean;
  private readonly faults: MultipartFaults;
  private readonly flags: MultipartFlags;
  private at: number;
  private delimiter: Buffer = noBytes;
  private boundary: Buffer = noBytes;
  /** The delimiter stands where it is no boundary. */
  private strayDelimiter = false;
  /** Where the part or the text before the first one begins. */
  private sectionStart: number;
  private quoted = false;
  private boundaries = 0;
  private parts = 0;
  private complete = false;
  private noFilesBytes = 0;
  private part: MultipartPart | null = null;

  constructor(tx: Transaction, start: number, end: number, truncated: boolean) {
    this.tx = tx;
    this.at = start;
    this.sectionStart = start;
    this.end = end;
    this.truncated = truncated;
    this.faults = new MultipartFaults(tx);
    this.flags = this.faults.flags;
  }

  read(): void {
    const { flags, tx } = this;
    tx.multipart = flags;
    const reading = readBoundary(lastField(tx, 'content-type'));
    const { alike } = reading;
    const boundary = this.faults.lenient ? (alike ?? reading.boundary) : reading.boundary;
    this.quoted = reading.quoted;
    flags.boundaryQuoted = reading.quoted ? 1 : 0;
    flags.boundaryWhitespace = reading.whitespace ? 1 : 0;
    flags.missingSemicolon = reading.missingSemicolon ? 1 : 0;
    flags.ambiguousBoundary = reading.ambiguous ? 1 : 0;
    if (alike === null) this.faults.differ('the boundary in Content-Type');
    if (reading.failure !== null) this.faults.fault(reading.failure, alike === null);
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
        this.faults.fail('Multipart: Too many parts.');
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
    if (!this.faults.lenient || this.boundaries === 0 || this.strayDelimiter) return;
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
      this.faults.fault('Multipart: Invalid boundary.', !blanksOnly);
      if (!blanksOnly || !this.faults.lenient) return false;
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
    if (crlf) this.faults.crlfLine = true;
    this.finishPart(at);
    this.boundaries++;
    this.complete = final;
    this.part = final ? null : new MultipartPart(this.tx, this.faults);
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
    if (this.strayDelimiter || this.faults.twoReadings) return;
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
    if (!this.faults.lenient || this.isPastNoFilesLimit()) return;
    const { slab } = this.tx.values;
    if (skipSpaces(slab, start, end) === end) return;
    const text = slab.latin1Slice(start, end);
    if (mayHoldPart(text)) this.faults.differ('text around the parts that looks like a part');
    if (delimiter.length > 0 && slab.subarray(start, end).includes(delimiter)) {
      this.faults.differ('a boundary after the last one');
    }
    addRawText(this.tx, SOURCE.argPost, start, end);
  }

  /** A line that begins like a boundary but is another one. */
  private noteUnmatched(at: number, stop: number): void {
    const { slab } = this.tx.values;
    if (this.quoted && slab[at + 2] === 0x22 && this.matchesAt(at + 3, stop, this.boundary)) {
      this.faults.fault('Multipart: Invalid boundary (quotes).', this.faults.twoReadings);
      return;
    }
    let from = at + 2;
    while (from < stop && isSpace(slab[from]!)) from++;
    if (from > at + 2 && this.matchesAt(from, stop, this.boundary)) {
      this.faults.fault('Multipart: Invalid boundary (whitespace).', this.faults.twoReadings);
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

  private readHeaderLine(part: MultipartPart, at: number, stop: number): void {
    this.at = stop;
    if (this.isCutLine(stop)) {
      part.lines.push([at, stop]);
      return;
    }
    this.noFilesBytes += stop - at;
    if (part.readLine(at, stop)) part.contentStart = stop;
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
      if (!cutHeaders) this.faults.fail('Multipart: Part headers without their end.');
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
    if (this.isPastNoFilesLimit()) {
      failBody(this.tx, 'Request body excluding files is bigger than the maximum expected.');
    }
    this.faults.sumUp();
  }
}

/** The boundary of the request where every reader reads the same; else ''. */
export function clearBoundary(tx: Transaction): ByteString {
  return readBoundary(lastField(tx, 'content-type')).alike ?? '';
}
