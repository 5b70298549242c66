/**
 * Reads the header sections that stand inside of bodies: of the parts of multipart types other than
 * form-data, of messages and of HTTP requests in them. Makes nothing of the content.
 * Source: RFC 2045, RFC 2046, RFC 5322.
 */

import { type ByteString, trimBlankEnds } from '../../../../base/byte-string.ts';
import { valueLimits } from '../../../../base/rule-limits.ts';
import { reachLimit } from '../../transaction/inspection-limits.ts';
import type { Transaction } from '../../transaction/transaction.ts';
import { isAsciiCharset } from '../../../base/multipart-content-type.ts';

/** One field; the name is in lower case. */
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
}

const LF = 0x0a;
const CR = 0x0d;

const fieldPattern = /^([!#$%&'*+\-.0-9A-Z^_`a-z|~]+):(.*)$/s;
const controlPattern = /[\x00-\x08\x0a-\x1f\x7f]/;
/** Fields by which readers choose what a part is; of two, some take the first. */
const decisive = /^content-(?:disposition|type|transfer-encoding)$/;

/** Reads the section that begins at `start`. `cut`: the body continues after `end`. */
export function readPartHead(tx: Transaction, start: number, end: number, cut: boolean): PartHead {
  const { slab } = tx.values;
  const fields: PartField[] = [];
  let unclear = false;
  for (let at = start; at < end;) {
    const found = slab.indexOf(LF, at);
    const stop = found < 0 || found >= end ? end : found;
    const textEnd = stop > at && stop < end && slab[stop - 1] === CR ? stop - 1 : stop;
    const next = Math.min(end, stop + 1);
    if (textEnd === at && stop < end) return { fields, contentStart: next, unclear };
    if (fields.length >= valueLimits.multipartPartHeadersMax) {
      reachLimit(tx, 'multipart-part-headers');
      return { fields, contentStart: at, unclear };
    }
    if (textEnd - at > valueLimits.multipartHeaderBytesMax) {
      reachLimit(tx, 'multipart-header-bytes');
      return { fields, contentStart: at, unclear };
    }
    const line = slab.latin1Slice(at, textEnd);
    if (!addLine(fields, line) && !(cut && stop === end)) unclear = true;
    at = next;
  }
  return { fields, contentStart: end, unclear: unclear || !cut };
}

/** False where the line is no field, or readers may take another one for it. */
function addLine(fields: PartField[], line: ByteString): boolean {
  if (controlPattern.test(line)) {
    fields.push({ name: '', value: line });
    return false;
  }
  const last = fields.at(-1);
  if (/^[ \t]/.test(line) && last !== undefined) {
    fields[fields.length - 1] = { name: last.name, value: `${last.value} ${trimBlankEnds(line)}` };
    return last.value.length < valueLimits.multipartHeaderBytesMax;
  }
  const found = fieldPattern.exec(line);
  if (found === null) {
    fields.push({ name: '', value: line });
    return false;
  }
  const name = found[1]!.toLowerCase();
  const again = decisive.test(name) && fields.some((field) => field.name === name);
  fields.push({ name, value: trimBlankEnds(found[2]!) });
  return !again;
}

/** The value of the field of that name; '' for none. */
export function fieldOf({ fields }: PartHead, name: string): ByteString {
  return fields.find((field) => field.name === name)?.value ?? '';
}

/**
 * `none`: no reader finds parts. `differs`: they may find other ones. Else the boundary. Source:
 * RFC 2046 section 5.1.1; parameters without quotes as mail and DICOM clients write them.
 */
export type PartsReading =
  | { readonly kind: 'boundary'; readonly boundary: ByteString }
  | { readonly kind: 'none' | 'differs' };

const mixedType = /^multipart\/(?!form-data *(?:;|$))[!#$&+\-.0-9^_a-z]+ *(?=;|$)/i;
const parameter =
  /[ \t]*;[ \t]*(?:([!#$&+\-.0-9A-Z^_a-z]+\*?)=(?:"((?:[^"\\]|\\.)*)"|([^\s;",]*)))?/y;
const boundaryPattern = /^[0-9A-Za-z'()+_,\-./:=? ]*[0-9A-Za-z'()+_,\-./:=?]$/;

/** Reads the boundary of a multipart type other than form-data. Cost: linear. */
export function readParts(contentType: ByteString): PartsReading {
  if (!/^multipart\//i.test(contentType)) return { kind: 'none' };
  if (contentType.length > valueLimits.multipartContentTypeBytesMax) return { kind: 'differs' };
  const type = mixedType.exec(contentType);
  if (type === null) return { kind: 'none' };
  const words = contentType.match(/boundary/gi)?.length ?? 0;
  if (words === 0) return { kind: 'none' };
  let boundary: ByteString | null = null;
  let at = type[0].length;
  while (at < contentType.length) {
    parameter.lastIndex = at;
    const found = parameter.exec(contentType);
    if (found === null) return { kind: 'differs' };
    at = parameter.lastIndex;
    const [, name = '', quoted, token] = found;
    if (name.toLowerCase() !== 'boundary') continue;
    if (boundary !== null) return { kind: 'differs' };
    boundary = quoted ?? token ?? '';
  }
  if (boundary === null || !boundaryPattern.test(boundary)) return { kind: 'differs' };
  // Some readers end a boundary at the first `=` or take the word that stands inside of it.
  const inside = boundary.match(/boundary=/gi)?.length ?? 0;
  const tooLong = boundary.length > valueLimits.multipartBoundaryBytesMax;
  return inside > 0 || tooLong ? { kind: 'differs' } : { kind: 'boundary', boundary };
}

/** Without parameters, in lower case; '' for none. */
export function mediaTypeOf(contentType: ByteString): ByteString {
  return contentType.split(';', 1)[0]!.trim().toLowerCase();
}

/** False where the content does not show its characters: in UTF-7 and what is not ASCII either. */
export function showsItsCharacters(contentType: ByteString, isWide: boolean): boolean {
  for (const [, charset = ''] of contentType.matchAll(/charset\*?\s*=\s*["']?([^\s"';,]*)/gi)) {
    if (isAsciiCharset(charset)) continue;
    if (!isWide || !/^utf-?(?:16|32)(?:[lb]e)?$/i.test(charset)) return false;
  }
  return true;
}
