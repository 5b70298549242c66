/** Whether an origin's answer is compressed, and what its head says then. Pure. */

import type { AnswerCompression, ResponseFields } from '../../contract/delivery.ts';
import { SPAN } from '../../contract/message.ts';
import type { ResponseHeadParser } from '../../http/response-head.ts';

/** An answer that may be compressed. */
export interface AnswerCoding {
  /** '' where the content stays as it is. */
  readonly coding: AnswerCompression['coding'];
  /** What replaces fields of the origin's answer. */
  readonly fields: ResponseFields;
}

/** What is read of a head. */
interface HeadFacts {
  type: string;
  vary: string;
  etag: string;
  /** No proxy may change the content, or its fields would be wrong if one did. */
  fixed: boolean;
}

const noFields: ResponseFields = { names: [], lines: '' };
/** Partial content, and answers that never have any. */
const statusesWithout = new Set([204, 205, 206]);
/** RFC 9530 and the fields before it: digests of the content as the origin sent it. */
const digests = new Set(['content-digest', 'repr-digest', 'digest', 'content-md5']);

/** How the answer is sent, with `present` as what is replaced anyway; null: as without any rule. */
export function codeAnswer(
  bytes: Uint8Array,
  head: ResponseHeadParser,
  { coding, types, minBytes }: AnswerCompression,
  present: ResponseFields | null,
): AnswerCoding | null {
  const { status, contentLength } = head;
  if (status < 200 || statusesWithout.has(status)) return null;
  const facts = readFacts(bytes, head);
  // RFC 9110 section 15.4.5: the fields that 200 would have had. Its type and length are unknown.
  if (status === 304) return coding === '' ? null : changed('', weakened(facts), facts, present);
  const short = contentLength >= 0 && contentLength < minBytes;
  if (facts.fixed || short || !isOfTypes(facts.type, types)) return null;
  if (coding === '') return changed('', noFields, facts, present);
  const { names, lines } = weakened(facts);
  const coded = {
    names: [...names, 'accept-ranges', 'content-encoding'],
    lines: `${lines}Content-Encoding: ${coding}\r\n`,
  };
  return changed(coding, coded, facts, present);
}

function readFacts(bytes: Uint8Array, { spans, fieldCount }: ResponseHeadParser): HeadFacts {
  const facts: HeadFacts = { type: '', vary: '', etag: '', fixed: false };
  for (let i = 0; i < fieldCount; i++) {
    const at = SPAN.fields + 4 * i;
    const name = textOf(bytes, spans[at]!, spans[at + 1]!).toLowerCase();
    const value = textOf(bytes, spans[at + 2]!, spans[at + 3]!);
    if (name === 'content-type') facts.type = value;
    else if (name === 'vary') facts.vary += `,${value}`;
    else if (name === 'etag') facts.etag = value;
    else if (name === 'content-encoding') facts.fixed ||= value.toLowerCase() !== 'identity';
    else if (name === 'cache-control') facts.fixed ||= /(?:^|[\s,])no-transform\b/i.test(value);
    else facts.fixed ||= digests.has(name);
  }
  return facts;
}

function textOf(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.prototype.latin1Slice.call(bytes, start, end);
}

function isOfTypes(value: string, types: readonly string[]): boolean {
  const type = value.split(';', 1)[0]!.trim().toLowerCase();
  const slash = type.indexOf('/');
  return slash > 0 && (types.includes(type) || types.includes(`${type.slice(0, slash)}/*`));
}

/** RFC 9110 section 8.8.3.3: a strong tag would name the content byte by byte. */
function weakened({ etag }: HeadFacts): ResponseFields {
  if (!etag.startsWith('"')) return noFields;
  return { names: ['etag'], lines: `ETag: W/${etag}\r\n` };
}

/** RFC 9110 section 12.5.5: caches must know that the answer depends on Accept-Encoding. */
function changed(
  coding: AnswerCompression['coding'],
  { names, lines }: ResponseFields,
  { vary }: HeadFacts,
  present: ResponseFields | null,
): AnswerCoding {
  const varied = vary
    .toLowerCase()
    .split(',')
    .map((one) => one.trim());
  const replaced = present ?? noFields;
  const said =
    !replaced.names.includes('vary') &&
    (varied.includes('*') || varied.includes('accept-encoding'));
  // What the site itself sets of these fields stays.
  const own = names.includes('etag') && replaced.names.includes('etag');
  const fields = {
    names: [...replaced.names, ...names],
    lines: replaced.lines + (own ? lines.replace(/^ETag:.*\r\n/, '') : lines),
  };
  if (!said) fields.lines += 'Vary: Accept-Encoding\r\n';
  return { coding, fields };
}
