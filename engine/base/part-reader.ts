/**
 * Reads the frame of multipart bodies, for rules and for checks of API documents alike: lines of
 * boundaries, and the header sections that stand in bodies, of parts, messages and HTTP requests.
 * Makes nothing of the content. Source: RFC 2045, RFC 2046, RFC 5322.
 */

import { type ByteString, trimBlankEnds } from '../../base/byte-string.ts';
import { valueLimits } from '../../base/rule-limits.ts';
import { isByteCharset } from './multipart-content-type.ts';

/** A line that is a boundary to all readers. */
export interface BoundaryLine {
  /** Where the content before it ends. */
  readonly contentEnd: number;
  readonly next: number;
  readonly final: boolean;
  /** Blanks stand after it. */
  readonly padded: boolean;
}

/** One field; the name is in lower case, '' for a line that is no field. */
export interface PartField {
  readonly name: ByteString;
  readonly value: ByteString;
}

/** A header section. */
export interface PartHead {
  readonly fields: readonly PartField[];
  /** Offset of the content; where the head has no end, the end of the bytes. */
  readonly contentStart: number;
  /** Readers may see other fields than these. */
  readonly unclear: boolean;
  /** Readers of forms, which are stricter with lines, may see other fields than these. */
  readonly unclearInForms: boolean;
  /** The limit that ended the reading; null for none. */
  readonly limit: 'multipart-part-headers' | 'multipart-header-bytes' | null;
}

const LF = 0x0a;
const CR = 0x0d;
const DASH = 0x2d;

const fieldPattern = /^([!#$%&'*+\-.0-9A-Z^_`a-z|~]+):(.*)$/s;
const controlPattern = /[\x00-\x08\x0a-\x1f\x7f]/;
const plainEncoding = /^(?:7bit|8bit|binary)$/i;
/** A media type whose only parameter is a charset. */
const charsetPattern = /^[^;"]*; ?charset=(?:"([^"]*)"|([^"]*))$/i;

/**
 * Reads the delimiter at `at` of a body that begins at `start`; null where it is no boundary to
 * some reader.
 */
export function readBoundaryLine(
  bytes: Buffer,
  start: number,
  at: number,
  end: number,
  delimiterBytes: number,
): BoundaryLine | null {
  const first = at === start;
  if (!first && (bytes[at - 1] !== LF || bytes[at - 2] !== CR || at - 2 < start)) return null;
  let rest = at + delimiterBytes;
  const final = rest + 2 <= end && bytes[rest] === DASH && bytes[rest + 1] === DASH;
  if (final) rest += 2;
  const newline = bytes.indexOf(LF, rest);
  const stop = newline < 0 || newline >= end ? end : newline + 1;
  if (!isPadding(bytes, rest, stop) || (stop === end && bytes[end - 1] !== LF && !final)) {
    return null;
  }
  const padded = stop > rest && bytes[rest] !== CR;
  return { contentEnd: first ? at : at - 2, next: stop, final, padded };
}

/** Blanks and tabs, then CRLF or the end of the bytes. */
export function isPadding(bytes: Buffer, start: number, end: number): boolean {
  let at = start;
  while (at < end && (bytes[at] === 0x20 || bytes[at] === 0x09)) at++;
  return at === end || (end - at === 2 && bytes[at] === CR && bytes[at + 1] === LF);
}

/** Reads the section that begins at `start`. `cut`: the body continues after `end`. */
export function readPartHead(bytes: Buffer, start: number, end: number, cut: boolean): PartHead {
  const lines = new FieldLines();
  for (let at = start; at < end;) {
    const found = bytes.indexOf(LF, at);
    const stop = found < 0 || found >= end ? end : found;
    const crlf = stop > at && stop < end && bytes[stop - 1] === CR;
    const textEnd = crlf ? stop - 1 : stop;
    if (stop < end && !crlf) lines.unclearInForms = true;
    const next = Math.min(end, stop + 1);
    if (textEnd === at && stop < end) return lines.head(next, null);
    if (lines.fields.length >= valueLimits.multipartPartHeadersMax) {
      return lines.head(at, 'multipart-part-headers');
    }
    if (textEnd - at > valueLimits.multipartHeaderBytesMax) {
      return lines.head(at, 'multipart-header-bytes');
    }
    lines.add(bytes.latin1Slice(at, textEnd), cut && stop === end);
    at = next;
  }
  if (!cut) lines.unclear = true;
  return lines.head(end, null);
}

class FieldLines {
  readonly fields: PartField[] = [];
  unclear = false;
  unclearInForms = false;

  head(contentStart: number, limit: PartHead['limit']): PartHead {
    const { fields, unclear } = this;
    const unclearInForms = unclear || this.unclearInForms || limit !== null;
    return { fields, contentStart, unclear, unclearInForms, limit };
  }

  /** `open`: more of the line may follow. */
  add(line: ByteString, open: boolean): void {
    const { fields } = this;
    if (controlPattern.test(line)) return this.addOther(line, open);
    const last = fields.at(-1);
    if (/^[ \t]/.test(line) && last !== undefined) return this.fold(last, line, open);
    const found = fieldPattern.exec(line);
    if (found === null) return this.addOther(line, open);
    const name = found[1]!.toLowerCase();
    const again = isDecisive(name) && fields.some((field) => field.name === name);
    fields.push({ name, value: trimBlankEnds(found[2]!) });
    if (again && !open) this.unclear = true;
  }

  private addOther(line: ByteString, open: boolean): void {
    this.fields.push({ name: '', value: line });
    if (!open) this.unclear = true;
  }

  private fold({ name, value }: PartField, line: ByteString, open: boolean): void {
    this.fields[this.fields.length - 1] = { name, value: `${value} ${trimBlankEnds(line)}` };
    if (value.length >= valueLimits.multipartHeaderBytesMax && !open) this.unclear = true;
    // Django drops the line, or reads a header in it.
    if (foldMatters(name, line)) this.unclearInForms = true;
  }
}

/** Whether backends choose by this field what a part is; of two some take the first. */
export function isDecisive(lowerName: string): boolean {
  return /^content-(?:disposition|type|transfer-encoding)$/.test(lowerName);
}

/** Whether a folded line of a form may be lost to some reader, or be a field of its own. */
export function foldMatters(lowerName: string, line: ByteString): boolean {
  return (isDecisive(lowerName) && lowerName !== 'content-type') || line.includes(':');
}

/** The value of the field of that name; '' for none. */
export function fieldOf({ fields }: PartHead, name: string): ByteString {
  return fields.find((field) => field.name === name)?.value ?? '';
}

/** Without parameters, in lower case; '' for none. */
export function mediaTypeOf(contentType: ByteString): ByteString {
  return contentType.split(';', 1)[0]!.trim().toLowerCase();
}

/** False where a backend may decode the content of a field: then a value is not what was sent. */
export function isPlainText(encoding: ByteString | null, type: ByteString | null): boolean {
  if (encoding !== null && !plainEncoding.test(encoding)) return false;
  if (type === null) return true;
  if (/^(?:multipart|message)\//i.test(type)) return false;
  if (!/charset/i.test(type)) return true;
  const [, quoted, token] = charsetPattern.exec(type) ?? [];
  return isByteCharset(quoted ?? token ?? '');
}

/** Text before the first boundary or after the last: Django reads a part wherever this stands. */
export function mayHoldPart(text: ByteString): boolean {
  return /content-disposition/i.test(text);
}
