/**
 * Reads multipart/form-data that has one reading only (RFC 7578, RFC 2046): what all backends read
 * alike. What is written in another way is no form of this kind.
 */

import { schemaLimits } from '../../base/schema-limits.ts';
import { readDisposition } from '../base/multipart-disposition.ts';
import {
  fieldOf,
  isPlainText,
  mayHoldPart,
  mediaTypeOf,
  readBoundaryLine,
  readPartHead,
  type PartHead,
} from '../base/part-reader.ts';
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
export type FormParts = { readonly parts: readonly FormPart[] } | PartFault;

interface PartFault {
  readonly fault: string;
}

const malformed: PartFault = { fault: 'malformed' };
const tooMany: PartFault = { fault: 'size' };

const boundaryPattern = /^[0-9A-Za-z'()+_,\-./:=? ]{0,69}[0-9A-Za-z'()+_,\-./:=?]$/;

/** Reads a body. Cost: one native search a part. */
export function readFormParts(body: Buffer, boundary: string): FormParts {
  if (!boundaryPattern.test(boundary)) return malformed;
  const delimiter = Buffer.from(`--${boundary}`, 'latin1');
  const parts: FormPart[] = [];
  let section = 0;
  let found = false;
  let complete = false;
  for (;;) {
    const next = body.indexOf(delimiter, section);
    if (next < 0) break;
    const line = readBoundaryLine(body, 0, next, body.length, delimiter.length);
    if (line === null || complete || (line.padded && !line.final)) return malformed;
    if (found) {
      if (parts.length >= schemaLimits.partsMax) return tooMany;
      const part = readPart(body, section, line.contentEnd);
      if ('fault' in part) return part;
      parts.push(part);
    } else if (mayHoldPart(body.latin1Slice(0, next))) return malformed;
    found = true;
    complete = line.final;
    section = line.next;
  }
  if (!complete || parts.length === 0) return malformed;
  return mayHoldPart(body.latin1Slice(section)) ? malformed : { parts };
}

function readPart(body: Buffer, start: number, end: number): FormPart | PartFault {
  const head = readPartHead(body, start, end, false);
  const { contentStart, limit, unclearInForms } = head;
  if (limit !== null || contentStart - start > schemaLimits.partHeaderBytesMax) return tooMany;
  // A boundary right after the empty line of the head is content to some origins.
  if (unclearInForms || contentStart > end) return malformed;
  const { alike, kind, name: sent, fileName } = readDisposition(fieldOf(head, disposition));
  const name = fromUtf8(sent);
  if (!alike || name === null || !isPlain(head, kind === 'file')) return malformed;
  const isFile = kind === 'file';
  return {
    name,
    isFile,
    unnamed: isFile && fileName === '',
    contentType: mediaTypeOf(fieldOf(head, 'content-type')),
    content: body.subarray(contentStart, end),
  };
}

const disposition = 'content-disposition';

/** Encoded parts are read by some origins only (RFC 7578 section 4.7). */
function isPlain(head: PartHead, isFile: boolean): boolean {
  const encoding = fieldOf(head, 'content-transfer-encoding');
  const type = isFile ? '' : fieldOf(head, 'content-type');
  return isPlainText(encoding === '' ? null : encoding, type === '' ? null : type);
}
