/**
 * Reads multipart/form-data that has one reading only (RFC 7578, RFC 2046): what all backends read
 * alike, without text around the parts and without folded fields. What is written in another way is
 * no form of this kind.
 */

import { trimBlankEnds } from '../../base/byte-string.ts';
import { schemaLimits } from '../../base/schema-limits.ts';
import { readDisposition } from '../base/multipart-disposition.ts';
import { fromUtf8 } from './pairs.ts';

/** One part. */
export interface FormPart {
  readonly name: string;
  /** True with a file name. */
  readonly isFile: boolean;
  /** The file name is empty. */
  readonly unnamed: boolean;
  /** Lower case, without parameters; '' for none. */
  readonly contentType: string;
  readonly content: Buffer;
}

/** The parts, or what is wrong. */
export type FormParts = { readonly parts: readonly FormPart[] } | { readonly fault: string };

const malformed: FormParts = { fault: 'malformed' };
const tooMany: FormParts = { fault: 'size' };

const lineEnd = '\r\n';
/** Of two, some readers take the first. */
const decisive = /^content-(?:disposition|type|transfer-encoding)$/;

/** Reads a body. Cost: one native search a part. */
export function readFormParts(body: Buffer, boundary: string): FormParts {
  if (!/^[0-9A-Za-z'()+_,\-./:=? ]{0,69}[0-9A-Za-z'()+_,\-./:=?]$/.test(boundary)) return malformed;
  const dashed = `--${boundary}`;
  let start = 0;
  // Some clients end a line before the first boundary.
  while (isAt(body, start, lineEnd)) start += 2;
  if (!isAt(body, start, dashed + lineEnd)) return malformed;
  const delimiter = Buffer.from(lineEnd + dashed, 'latin1');
  const parts: FormPart[] = [];
  let at = start + dashed.length + 2;
  for (;;) {
    if (parts.length >= schemaLimits.partsMax) return tooMany;
    const headEnd = body.indexOf('\r\n\r\n', at, 'latin1');
    const stop = body.indexOf(delimiter, at - 2);
    // A boundary right after the head's empty line is content to some origins.
    if (headEnd < 0 || stop < headEnd + 4) return malformed;
    if (headEnd - at > schemaLimits.partHeaderBytesMax) return tooMany;
    const part = readPart(body.latin1Slice(at, headEnd), body.subarray(headEnd + 4, stop));
    if (part === null) return malformed;
    parts.push(part);
    const next = stop + delimiter.length;
    if (isAt(body, next, '--')) return isEnd(body, next + 2) ? { parts } : malformed;
    if (!isAt(body, next, lineEnd)) return malformed;
    at = next + 2;
  }
}

/** Whether a text stands at an offset; false where the body ends before. */
function isAt(body: Buffer, at: number, text: string): boolean {
  const end = at + text.length;
  // A slice past the end throws.
  return end <= body.length && body.latin1Slice(at, end) === text;
}

/** Nothing but blanks and one line end comes after the last boundary. */
function isEnd(body: Buffer, from: number): boolean {
  let at = from;
  while (isAt(body, at, ' ')) at++;
  return at === body.length || (at + 2 === body.length && body.latin1Slice(at) === lineEnd);
}

function readPart(head: string, content: Buffer): FormPart | null {
  let disposition = '';
  let contentType = '';
  const names = new Set<string>();
  for (const line of head.split(lineEnd)) {
    const colon = line.indexOf(':');
    if (colon <= 0 || !/^[A-Za-z0-9-]+$/.test(line.slice(0, colon))) return null;
    const name = line.slice(0, colon).toLowerCase();
    const value = trimBlankEnds(line.slice(colon + 1));
    if ((names.has(name) && decisive.test(name)) || /[\x00-\x08\x0a-\x1f\x7f]/.test(value))
      return null;
    names.add(name);
    if (name === 'content-disposition') disposition = value;
    else if (name === 'content-type') contentType = value.split(';', 1)[0]!.trim().toLowerCase();
    // Encoded parts are read by some origins only (RFC 7578 section 4.7).
    else if (name === 'content-transfer-encoding' && !/^(?:7bit|8bit|binary)$/i.test(value)) {
      return null;
    }
  }
  const { alike, kind, name: sent, fileName } = readDisposition(disposition);
  const name = fromUtf8(sent);
  if (!alike || name === null) return null;
  const isFile = kind === 'file';
  return { name, isFile, unnamed: isFile && fileName === '', contentType, content };
}
