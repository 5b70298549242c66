/**
 * How a request head becomes rows: one copy of its bytes into the slab, then offsets. Decides
 * which body processor the Content-Type asks for. Never makes strings.
 */

import { SPAN } from '../../contract/message.ts';
import { hexValue } from '../../../base/hex-value.ts';
import { isPlainPath, READER, readPath } from '../../../base/path-readings.ts';
import { foldPath, withoutForcedEscapes } from '../../../base/stated-path.ts';
import { readArguments } from '../features/bodies/arguments.ts';
import type { Transaction } from '../transaction/transaction.ts';
import { type SourceId, SOURCE, type ValueTable } from '../transaction/values.ts';
import { readCookies, readJoinedCookies } from './cookies.ts';
import { addRenamed } from './renamed-values.ts';
import { nameIs, startsWithName } from '../transaction/ascii.ts';

const HASH = 0x23;
const SLASH = 0x2f;
const COLON = 0x3a;
const PERCENT = 0x25;
const QUESTION = 0x3f;
const BACKSLASH = 0x5c;

/**
 * Fills the values of phase 1; call once, right after `tx.begin`. Rows: REQUEST_LINE, METHOD,
 * PROTOCOL, URI, URI_RAW, FILENAME, BASENAME, QUERY_STRING, headers, cookies and ARGS_GET; only
 * ARGS, FILENAME and BASENAME are decoded. Readings of the path, and values under names that the
 * origin gives them, where rules ask for them. Cost: one copy of the head, two passes over target
 * and cookies.
 */
export function loadRequestHead(tx: Transaction): void {
  const { bytes, spans } = tx.request.head;
  const values = tx.values;
  const fieldCount = spans[SPAN.fieldCount]!;
  const from = spans[SPAN.lineStart]!;
  const to = fieldCount > 0 ? spans[SPAN.fields + 4 * fieldCount - 1]! : spans[SPAN.lineEnd]!;
  const at = values.append(bytes, from, to);
  tx.headStart = at;
  tx.headEnd = at + to - from;
  const move = at - from;
  addScalar(values, SOURCE.requestLine, at, spans[SPAN.lineEnd]! + move);
  const methodStart = spans[SPAN.firstStart]! + move;
  addScalar(values, SOURCE.requestMethod, methodStart, spans[SPAN.firstEnd]! + move);
  addProtocol(values, spans[SPAN.protocolStart]! + move, spans[SPAN.protocolEnd]! + move);
  addFields(tx, spans, fieldCount, move);
  addTarget(tx, spans[SPAN.secondStart]! + move, spans[SPAN.secondEnd]! + move);
  if (tx.settings.renamedValues) addRenamed(tx, 0);
}

/** A request line without a protocol is one of HTTP/0.9, as servers read it. */
function addProtocol(values: ValueTable, start: number, end: number): void {
  if (end > start) addScalar(values, SOURCE.requestProtocol, start, end);
  else values.addText(SOURCE.requestProtocol, '', 'HTTP/0.9');
}

function addFields(tx: Transaction, spans: Int32Array, fieldCount: number, move: number): void {
  const values = tx.values;
  let cookieFields = 0;
  for (let i = 0, at: number = SPAN.fields; i < fieldCount; i++, at += 4) {
    const keyStart = spans[at]! + move;
    const keyEnd = spans[at + 1]! + move;
    const start = spans[at + 2]! + move;
    const end = spans[at + 3]! + move;
    values.add(SOURCE.requestHeader, keyStart, keyEnd, start, end);
    const nameBytes = keyEnd - keyStart;
    if (nameBytes === 6) {
      if (!nameIs(values.slab, keyStart, keyEnd, 'cookie')) continue;
      readCookies(tx, start, end);
      cookieFields++;
    } else if (nameBytes === 12 && nameIs(values.slab, keyStart, keyEnd, 'content-type')) {
      chooseProcessor(tx, start, end);
    }
  }
  if (cookieFields > 1) readJoinedCookies(tx);
}

/** As ModSecurity: a prefix of the media type is enough; JSON and XML need `ctl`. */
function chooseProcessor(tx: Transaction, start: number, end: number): void {
  const slab = tx.values.slab;
  if (startsWithName(slab, start, end, 'multipart/form-data')) tx.bodyProcessor = 'MULTIPART';
  else if (startsWithName(slab, start, end, 'application/x-www-form-urlencoded')) {
    tx.bodyProcessor = 'URLENCODED';
  } else if (tx.request.grpcFields === true) {
    // Servers take any suffix that they do not know for Protocol Buffers.
    const isGrpc = startsWithName(slab, start, end, 'application/grpc');
    // Streams of Connect have the same frames.
    if (isGrpc || startsWithName(slab, start, end, 'application/connect+')) {
      tx.bodyProcessor = 'GRPC';
    }
  }
}

/**
 * REQUEST_URI has neither scheme and host nor fragment, REQUEST_URI_RAW is the target as sent.
 * Neither is decoded; REQUEST_FILENAME and REQUEST_BASENAME are (%XX, once), as in ModSecurity.
 */
function addTarget(tx: Transaction, start: number, end: number): void {
  const values = tx.values;
  const slab = values.slab;
  const path = slab[start] === SLASH ? start : skipAuthority(slab, start, end);
  let query = -1;
  let slash = path - 1;
  let escaped = false;
  let stop = path;
  for (; stop < end; stop++) {
    const byte = slab[stop]!;
    if (byte === HASH) break;
    if (query >= 0) continue;
    if (byte === PERCENT) escaped = true;
    else if (byte === QUESTION) query = stop;
    else if (byte === SLASH || byte === BACKSLASH) slash = stop;
  }
  const pathEnd = query < 0 ? stop : query;
  const queryStart = query < 0 ? stop : query + 1;
  addScalar(values, SOURCE.requestUriRaw, start, end);
  addScalar(values, SOURCE.requestUri, path, stop);
  const file = escaped ? appendDecoded(values, path, pathEnd) : path;
  const fileEnd = escaped ? values.used : pathEnd;
  if (escaped) slash = lastSlash(values.slab, file, fileEnd);
  addScalar(values, SOURCE.requestFilename, file, fileEnd);
  addScalar(values, SOURCE.requestBasename, slash + 1, fileEnd);
  addScalar(values, SOURCE.queryString, queryStart, stop);
  if (tx.settings.pathReadings) addPathReadings(values, path, pathEnd);
  readArguments(tx, SOURCE.argGet, queryStart, stop, tx.settings.argumentSeparator);
}

/** One row in place for a path that all origins read alike. */
function addPathReadings(values: ValueTable, start: number, end: number): void {
  const path = values.slab.latin1Slice(start, end) || '/';
  if (isPlainPath(path) && end > start) {
    addScalar(values, SOURCE.requestPath, start, end);
    if (end > start + 1 && path.endsWith('/')) {
      addScalar(values, SOURCE.requestPath, start, end - 1);
    }
    values.addText(SOURCE.requestPathsJoined, '', `${path}\n`);
    return;
  }
  const { list, complete } = readPath(path);
  const found = new Set<string>();
  for (const { text } of list) {
    const end = text.length > 1 && text.endsWith('/') ? -1 : text.length;
    found.add(text).add(text.slice(0, end));
    // t:lowercase knows ASCII only.
    if (/[\x80-\xff]/.test(text)) found.add(foldPath(text.slice(0, end)));
  }
  for (const text of found) values.addText(SOURCE.requestPath, '', text);
  const usual = list
    .filter(({ reader }) => reader === READER.USUAL)
    .map(({ text, decoding }) => (decoding === 'none' ? withoutForcedEscapes(text) : text));
  // What is not listed may lie anywhere.
  const all = complete ? usual : [...usual, ''];
  values.addText(SOURCE.requestPathsJoined, '', all.map((text) => `${text}\n`).join(''));
}

/** Writes [start, end) with its %XX decoded to the end of the slab; returns where it begins. */
function appendDecoded(values: ValueTable, start: number, end: number): number {
  values.reserve(end - start);
  const slab = values.slab;
  const from = values.used;
  let to = from;
  for (let at = start; at < end; at++) {
    let byte = slab[at]!;
    if (byte === PERCENT && at + 2 < end) {
      const decoded = (hexValue[slab[at + 1]!]! << 4) | hexValue[slab[at + 2]!]!;
      if (decoded >= 0) {
        byte = decoded;
        at += 2;
      }
    }
    slab[to++] = byte;
  }
  values.used = to;
  return from;
}

/** Offset of the last slash of either kind; before `start` where there is none. */
function lastSlash(slab: Uint8Array, start: number, end: number): number {
  let at = end - 1;
  while (at >= start && slab[at] !== SLASH && slab[at] !== BACKSLASH) at--;
  return at;
}

/** Offset of the path in an absolute-form target; `start` for any other form. */
function skipAuthority(slab: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end && isSchemeByte(slab[at]!)) at++;
  if (at === start || at + 2 >= end) return start;
  if (slab[at] !== COLON || slab[at + 1] !== SLASH || slab[at + 2] !== SLASH) return start;
  at += 3;
  while (at < end && slab[at] !== SLASH && slab[at] !== QUESTION && slab[at] !== HASH) at++;
  return at;
}

/** RFC 3986 section 3.1, without its rule for the first character. */
function isSchemeByte(byte: number): boolean {
  const letter = byte | 0x20;
  if (letter >= 0x61 && letter <= 0x7a) return true;
  return (byte >= 0x30 && byte <= 0x39) || byte === 0x2b || byte === 0x2d || byte === 0x2e;
}

function addScalar(values: ValueTable, source: SourceId, start: number, end: number): void {
  values.add(source, start, start, start, end);
}
