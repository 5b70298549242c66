/**
 * How heads are written to the other side: a strict start line, the end-to-end fields copied from
 * the bytes as received, and our own fields for routing and framing. Makes no header objects.
 */

import type { ResponseFields } from '../../contract/delivery.ts';
import { SPAN } from '../../contract/message.ts';
import type { ByteWriter } from '../../http/byte-writer.ts';
import { CANONICAL, KIND_MASK, type HeadScanner } from '../../http/head-scanner.ts';
import { TARGET_FORM, type RequestHeadParser } from '../../http/request-head.ts';
import type { ResponseHeadParser } from '../../http/response-head.ts';
import { rateFieldNames } from '../../guard/rate-fields.ts';
import { FIELD } from '../../http/tables.ts';
import { extensionsField } from '../../http/websocket.ts';
import { httpDate } from './http-date.ts';
import { offeredCodings } from './offered-codings.ts';
import { keepForwarded, keepUnnamed, type OriginFields } from '../../upstream/origin-fields.ts';

function dropTable(kinds: readonly number[]): Uint8Array {
  const table = new Uint8Array(KIND_MASK + 1);
  for (const kind of kinds) table[kind] = 1;
  return table;
}

const hopByHop = [
  FIELD.CONTENT_LENGTH,
  FIELD.TRANSFER_ENCODING,
  FIELD.CONNECTION,
  FIELD.KEEP_ALIVE,
  FIELD.PROXY_CONNECTION,
  FIELD.TRAILER,
  FIELD.UPGRADE,
  FIELD.X_REQUEST_ID,
  FIELD.NOMINATED,
];

/**
 * Kinds that are not copied to the origin; what is written instead stands in the function below.
 */
const requestDrops = dropTable([
  ...hopByHop,
  FIELD.HOST,
  FIELD.TE,
  FIELD.EXPECT,
  FIELD.PROXY_AUTHORIZATION,
  FIELD.X_FORWARDED_FOR,
  FIELD.X_FORWARDED_PROTO,
  FIELD.X_FORWARDED_HOST,
  FIELD.FORWARDED,
  FIELD.X_REAL_IP,
  FIELD.X_FORWARDED_OTHER,
  FIELD.PROXY,
  FIELD.ALIAS,
]);

/** What is dropped beside these, by `dropsOf`: for each of the eight ways one table. */
const WAY = { INSPECTED: 1, TRACED: 2, UNPROVED: 4 } as const;
const dropsByWay = Array.from({ length: 8 }, (_, way) => {
  const table = Uint8Array.from(requestDrops);
  // Where answers are inspected; see `offeredCodings`.
  if ((way & WAY.INSPECTED) !== 0) table[FIELD.ACCEPT_ENCODING] = 1;
  // While requests are in traces of ours the lines of these fields are written anew.
  if ((way & WAY.TRACED) !== 0) table[FIELD.TRACEPARENT] = table[FIELD.TRACESTATE] = 1;
  if ((way & WAY.UNPROVED) !== 0) table[FIELD.OF_PROXIES] = 1;
  return table;
});

const responseDrops = dropTable(hopByHop);
const trailedDrops = dropTable(hopByHop.filter((kind) => kind !== FIELD.TRAILER));

/** What the request head needs beside the client's bytes. */
export interface RequestHeadFacts {
  /** Ready lines about the connection: X-Forwarded-For and X-Forwarded-Proto. */
  readonly forwardedLines: string;
  /** Ready lines that nobody but the product says; '' for none. */
  readonly vouchedLines: string;
  /** For requests without a host of their own. */
  readonly defaultHost: string;
  readonly requestId: string;
  /** Fields that the upstream's operator sets; null for none. */
  readonly fields: OriginFields | null;
  /** Bytes taken off the front of the path. */
  readonly skip: number;
  /** The target in place of the client's; null leaves that. */
  readonly rewrittenTarget: string | null;
  /** True where the answer is inspected. */
  readonly inspected: boolean;
  /** True where a WebSocket is asked for. */
  readonly upgrade: boolean;
  /** True where its frames are read: no extension may change what they mean. */
  readonly withoutExtensions: boolean;
  /** True where proxies that a trust profile proves sent it: their fields are kept. */
  readonly proved: boolean;
  /** Ready lines in place of the client's trace context; null leaves those as they are. */
  readonly traceLines: string | null;
}

/** Fields that open a WebSocket, in both directions. */
export const upgradeLines = 'Connection: Upgrade\r\nUpgrade: websocket\r\n';

/** Body length to announce to the origin: bytes, or -1 chunked, or -2 no body and no field. */
export const LENGTH = { CHUNKED: -1, ABSENT: -2 } as const;

/**
 * Writes the request head for the origin, the empty line included. `last` announces that the
 * connection serves no request after this one.
 */
export function writeRequestHead(
  writer: ByteWriter,
  bytes: Uint8Array,
  head: RequestHeadParser,
  facts: RequestHeadFacts,
  length: number,
  last = false,
): void {
  const spans = head.spans;
  writer.reserve(head.headEnd + 512);
  writer.bytes(bytes, spans[SPAN.firstStart]!, spans[SPAN.firstEnd]!);
  writer.text(' ');
  if (facts.rewrittenTarget === null) writeTarget(writer, bytes, head, facts.skip);
  else writer.text(facts.rewrittenTarget);
  writer.text(' HTTP/1.1\r\nHost: ');
  const { fields } = facts;
  const hasHost = head.hostEnd > head.hostStart;
  if (fields !== null && fields.host !== null) writer.text(fields.host);
  else if (hasHost) writer.bytes(bytes, head.hostStart, head.hostEnd);
  else writer.text(facts.defaultHost);
  writer.crlf();
  const drops = dropsOf(facts);
  const named = fields?.names ?? noNames;
  const names = facts.withoutExtensions ? [...named, extensionsField] : named;
  copyFields(writer, bytes, head, drops, names);
  if (facts.inspected && fields?.names.includes('accept-encoding') !== true) {
    writer.text(offeredCodings(bytes, head));
  }
  if (fields === null) writer.text(facts.forwardedLines);
  else {
    writer.text(keepForwarded(facts.forwardedLines, fields));
    writer.text(fields.lines);
    for (const { name, line } of fields.defaults) {
      if (!hasField(bytes, head, name, drops)) writer.text(line);
    }
  }
  const { traceLines, vouchedLines } = facts;
  if (vouchedLines !== '') writer.text(vouchedLines);
  if (traceLines !== null) {
    writer.text(fields === null ? traceLines : keepUnnamed(traceLines, fields));
  }
  if (hasHost && fields?.names.includes('x-forwarded-host') !== true) {
    writer.text('X-Forwarded-Host: ');
    writer.bytes(bytes, head.hostStart, head.hostEnd);
    writer.crlf();
  }
  if (facts.upgrade) writer.text(upgradeLines);
  else if (head.wantsTrailers) writer.text(last ? lastTrailersLines : trailersLines);
  else if (last) writer.text('Connection: close\r\n');
  writer.text('X-Request-Id: ');
  writer.text(facts.requestId);
  if (length === LENGTH.CHUNKED) writer.text('\r\nTransfer-Encoding: chunked\r\n\r\n');
  else if (length === LENGTH.ABSENT) writer.text('\r\n\r\n');
  else {
    writer.text('\r\nContent-Length: ');
    writer.decimal(length);
    writer.text('\r\n\r\n');
  }
}

const trailersLines = 'Connection: TE\r\nTE: trailers\r\n';
const lastTrailersLines = 'Connection: close, TE\r\nTE: trailers\r\n';

function dropsOf({ inspected, traceLines, proved }: RequestHeadFacts): Uint8Array {
  const way = (inspected ? WAY.INSPECTED : 0) | (traceLines === null ? 0 : WAY.TRACED);
  return dropsByWay[proved ? way : way | WAY.UNPROVED]!;
}

/** The target in origin form (RFC 9112 section 3.2.1), or `*`. */
function writeTarget(
  writer: ByteWriter,
  bytes: Uint8Array,
  head: RequestHeadParser,
  skip: number,
): void {
  const { pathEnd } = head;
  const pathStart = head.pathStart + skip;
  if (skip > 0) {
    if (bytes[pathStart] !== 0x2f || pathStart === pathEnd) writer.text('/');
    return writer.bytes(bytes, pathStart, pathEnd);
  }
  if (head.targetForm === TARGET_FORM.ABSOLUTE && bytes[pathStart] !== 0x2f) writer.text('/');
  if (head.targetForm === TARGET_FORM.ABSOLUTE && pathStart === pathEnd) return;
  writer.bytes(bytes, pathStart, pathEnd);
}

/** What takes the place of fields of an origin's answer. */
export interface ReplacedFields {
  /** Value of Strict-Transport-Security in place of the origin's; '' leaves that as it is. */
  readonly strictTransport: string;
  /** Lines on rate limits in place of the origin's; '' leaves those as they are. */
  readonly rateLines: string;
  /** What the site's delivery replaces; null for nothing. */
  readonly fields: ResponseFields | null;
}

/** What the response head needs beside the origin's bytes. */
export interface ResponseHeadFacts extends ReplacedFields {
  readonly requestId: string;
  /** Ready framing and connection lines, each with its line end. */
  readonly closingLines: string;
  /** -1: announce none. */
  readonly contentLength: number;
  /** The time, where the origin does not say it. */
  readonly nowMs: number;
  /** True where trailers follow that the origin announces. */
  readonly trailers: boolean;
}

/**
 * Writes the head of an informational answer, the empty line included. It carries no field of the
 * origin that the final answer replaces or removes; the replacements are in the final answer only.
 */
export function writeInterimHead(
  writer: ByteWriter,
  bytes: Uint8Array,
  head: ResponseHeadParser,
  replaced: ReplacedFields,
): void {
  writer.reserve(head.headEnd + 16);
  writeStatusLine(writer, bytes, head);
  copyFields(writer, bytes, head, responseDrops, replacedNames(replaced));
  writer.crlf();
}

function writeStatusLine(writer: ByteWriter, bytes: Uint8Array, { spans }: HeadScanner): void {
  writer.text('HTTP/1.1 ');
  writer.bytes(bytes, spans[SPAN.firstStart]!, spans[SPAN.firstEnd]!);
  writer.text(' ');
  writer.bytes(bytes, spans[SPAN.secondStart]!, spans[SPAN.secondEnd]!);
  writer.crlf();
}

/** Writes the response head for the client, the empty line included. */
export function writeResponseHead(
  writer: ByteWriter,
  bytes: Uint8Array,
  head: ResponseHeadParser,
  facts: ResponseHeadFacts,
): void {
  writer.reserve(head.headEnd + 256);
  writeStatusLine(writer, bytes, head);
  const { strictTransport, rateLines, fields } = facts;
  const drops = facts.trailers ? trailedDrops : responseDrops;
  copyFields(writer, bytes, head, drops, replacedNames(facts));
  if (rateLines !== '') writer.text(rateLines);
  if (fields !== null) writer.text(fields.lines);
  if (strictTransport !== '') {
    writer.text(`Strict-Transport-Security: ${strictTransport}\r\n`);
  }
  // RFC 9110 section 6.6.1.
  if (!head.hasDate) writer.text(`Date: ${httpDate(facts.nowMs)}\r\n`);
  writer.text('X-Request-Id: ');
  writer.text(facts.requestId);
  if (facts.contentLength >= 0) {
    writer.text('\r\nContent-Length: ');
    writer.decimal(facts.contentLength);
  }
  writer.crlf();
  writer.text(facts.closingLines);
  writer.crlf();
}

/** Names of the origin's fields that are not copied. */
function replacedNames({ strictTransport, rateLines, fields }: ReplacedFields): readonly string[] {
  const strict = strictTransport === '' ? noNames : strictNames;
  const known = rateLines === '' ? strict : [...strict, ...rateFieldNames];
  return fields === null ? known : [...known, ...fields.names];
}

const noNames: readonly string[] = [];
/** RFC 6797 section 8.1: of two such fields, clients go by the first. */
const strictNames: readonly string[] = ['strict-transport-security'];

/** Whether a head has a field of a name in lower case, and of no kind that is not copied. */
export function hasField(
  bytes: Uint8Array,
  { spans, kinds, fieldCount }: HeadScanner,
  name: string,
  drops: Uint8Array = responseDrops,
): boolean {
  const names = [name];
  for (let i = 0; i < fieldCount; i++) {
    const at = SPAN.fields + 4 * i;
    if (drops[kinds[i]! & KIND_MASK] !== 0) continue;
    if (isNamed(bytes, spans[at]!, spans[at + 1]!, names)) return true;
  }
  return false;
}

/** Underscores count as hyphens: origins that make variables of names cannot tell them apart. */
function isNamed(bytes: Uint8Array, start: number, end: number, names: readonly string[]): boolean {
  return names.some((name) => {
    if (name.length !== end - start) return false;
    for (let i = 0; i < name.length; i++) {
      const byte = bytes[start + i]!;
      const lower = byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte;
      const wanted = name.charCodeAt(i);
      if (lower !== wanted && !(lower === 0x5f && wanted === 0x2d)) return false;
    }
    return true;
  });
}

/** Copies what is not dropped; neighbors that read `name: value` go in one copy. */
function copyFields(
  writer: ByteWriter,
  bytes: Uint8Array,
  head: HeadScanner,
  drops: Uint8Array,
  names: readonly string[] = noNames,
): void {
  const { spans, kinds, fieldCount } = head;
  let runStart = -1;
  let runEnd = 0;
  for (let i = 0; i < fieldCount; i++) {
    const kind = kinds[i]!;
    const at = SPAN.fields + 4 * i;
    const kept =
      drops[kind & KIND_MASK] === 0 &&
      (names.length === 0 || !isNamed(bytes, spans[at]!, spans[at + 1]!, names));
    if (kept && (kind & CANONICAL) !== 0) {
      if (runStart < 0) runStart = spans[at]!;
      runEnd = spans[at + 3]! + 2;
      continue;
    }
    if (runStart >= 0) writer.bytes(bytes, runStart, runEnd);
    runStart = -1;
    if (!kept) continue;
    writer.bytes(bytes, spans[at]!, spans[at + 1]!);
    writer.text(': ');
    writer.bytes(bytes, spans[at + 2]!, spans[at + 3]!);
    writer.crlf();
  }
  if (runStart >= 0) writer.bytes(bytes, runStart, runEnd);
}
