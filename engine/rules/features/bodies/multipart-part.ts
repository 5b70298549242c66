/** The header section of one part of a multipart body: its lines, and what they say it is. */

import { valueLimits } from '../../../../base/rule-limits.ts';
import { isSpace } from '../../transaction/ascii.ts';
import { reachLimit } from '../../transaction/inspection-limits.ts';
import type { Transaction } from '../../transaction/transaction.ts';
import {
  showsItsCharacters,
  showsItsNames,
  showsItsWords,
} from '../../../base/multipart-content-type.ts';
import { type Disposition, readDisposition } from '../../../base/multipart-disposition.ts';
import { foldMatters, isDecisive, isPlainText } from '../../../base/part-reader.ts';
import type { MultipartFaults } from './multipart-faults.ts';
import { findControl, headerOf, nameOf, skipSpaces } from './multipart-headers.ts';

const LF = 0x0a;
const CR = 0x0d;
const COLON = 0x3a;

/** One part; offsets are into the slab. */
export class MultipartPart {
  /** Start and end of each header line, without its line end. */
  readonly lines: [number, number][] = [];
  disposition: Disposition | null = null;
  /** -1 while the header section lasts. */
  contentStart = -1;
  private readonly names = new Set<string>();
  private readonly tx: Transaction;
  private readonly faults: MultipartFaults;

  constructor(tx: Transaction, faults: MultipartFaults) {
    this.tx = tx;
    this.faults = faults;
  }

  /** Reads the line in [at, stop), line end included; true when it ends the section. */
  readLine(at: number, stop: number): boolean {
    const { faults } = this;
    const { slab } = this.tx.values;
    let end = stop;
    const hasEnd = slab[stop - 1] === LF;
    if (hasEnd) end--;
    const crlf = hasEnd && end > at && slab[end - 1] === CR;
    if (crlf) end--;
    if (crlf) faults.crlfLine = true;
    else if (hasEnd) faults.flags.lfLine = 1;
    if (end === at) {
      this.endHeaders();
      return true;
    }
    if (end - at > valueLimits.multipartHeaderBytesMax) {
      reachLimit(this.tx, 'multipart-header-bytes');
      this.faults.fail('Multipart: Part header line too long.');
    }
    const folded = isSpace(slab[at]!);
    const control = findControl(slab, folded ? skipSpaces(slab, at, end) : at, end);
    if (control < end) {
      const which = slab[control] === 0 ? 'Nul byte' : 'Control character';
      this.faults.fail(`Multipart: ${which} in part headers.`);
    }
    if (folded) this.foldLine(at, end);
    else this.addHeaderLine(at, end);
    return false;
  }

  private addHeaderLine(at: number, end: number): void {
    const { slab } = this.tx.values;
    if (this.lines.length >= valueLimits.multipartPartHeadersMax) {
      reachLimit(this.tx, 'multipart-part-headers');
      this.faults.fail('Multipart: Too many part headers.');
      return;
    }
    this.lines.push([at, end]);
    let colon = at;
    let valid = true;
    for (; colon < end && slab[colon] !== COLON; colon++) {
      if (slab[colon]! < 0x21 || slab[colon]! > 0x7e) valid = false;
    }
    if (colon === end) return this.faults.fail('Multipart: Invalid part header (colon missing).');
    if (colon === at)
      return this.faults.fail('Multipart: Invalid part header (header name missing).');
    if (!valid) this.faults.fail('Multipart: Invalid part header (contains invalid character).');
    const name = slab.latin1Slice(at, colon).toLowerCase();
    if (this.names.has(name))
      this.faults.fault('Multipart: Duplicate part header.', isDecisive(name));
    this.names.add(name);
  }

  /** RFC 2045 folding: joined with one blank, as one line after the used slab. */
  private foldLine(at: number, end: number): void {
    const { values } = this.tx;
    const { flags } = this.faults;
    flags.headerFolding = 1;
    const last = this.lines.at(-1);
    let from = at;
    for (; from < end && isSpace(values.slab[from]!); from++) {
      const byte = values.slab[from];
      if (byte !== 0x20 && byte !== 0x09) flags.invalidHeaderFolding = 1;
    }
    if (last === undefined)
      return this.faults.fail('Multipart: Invalid part header (folding error).');
    const text = values.slab.latin1Slice(from, end);
    if (foldMatters(nameOf(values.slab, last), text)) this.faults.differ('a folded line of a part');
    if (last[1] - last[0] + end - from > valueLimits.multipartHeaderBytesMax) {
      return this.faults.fail('Multipart: Part header too long.');
    }
    values.reserve(last[1] - last[0] + 1 + end - from);
    // The line is moved once; further folds are written right after it.
    if (last[1] !== values.used) last[0] = values.append(values.slab, last[0], last[1]);
    values.appendText(' ');
    values.append(values.slab, from, end);
    last[1] = values.used;
  }

  private endHeaders(): void {
    const { slab } = this.tx.values;
    const value = headerOf(slab, this.lines, 'content-disposition');
    if (value === null)
      return this.faults.fail('Multipart: Part missing Content-Disposition header.');
    const disposition = readDisposition(value);
    this.disposition = disposition;
    const encoding = headerOf(slab, this.lines, 'content-transfer-encoding');
    const type = headerOf(slab, this.lines, 'content-type');
    if (disposition.kind === 'field' && !isPlainText(encoding, type)) disposition.kind = 'either';
    // Werkzeug reads a field in EBCDIC or UTF-16 where others read bytes.
    const hidden = disposition.kind !== 'file' && !showsItsCharacters(type ?? '', false);
    if (hidden) this.faults.differ('a charset of a part that only some servers decode');
    // Extended names of a file alone are in UTF-8 or Latin-1.
    const shows = disposition.kind === 'file' ? showsItsWords : showsItsNames;
    if (!shows(value)) {
      this.faults.differ('a charset of a name that only some servers decode');
    }
    this.judgeDisposition(disposition);
    if (disposition.name !== '') this.faults.flags.names.push(disposition.name);
    for (const name of [disposition.fileName, disposition.extendedFileName]) {
      if (name !== '') this.faults.flags.fileNames.push(name);
    }
  }

  private judgeDisposition({ alike, invalidQuoting, failure, name, kind }: Disposition): void {
    if (invalidQuoting) this.faults.flags.invalidQuoting = 1;
    if (invalidQuoting && !alike) this.faults.differ('quotes in Content-Disposition');
    if (failure !== null) {
      this.faults.flags.invalidPart = 1;
      this.faults.fault(failure, !alike);
      if (!alike) return;
    }
    if (name === '') this.faults.fail('Multipart: Content-Disposition header missing name field.');
    else if (kind === 'either') this.faults.flags.ambiguousPart = 1;
  }
}
