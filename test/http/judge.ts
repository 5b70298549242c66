/**
 * How one case of the HTTP parsing corpus is judged: reads the wire bytes with the product's
 * parsers, message after message, and compares with the verdict under a strict proxy's rules.
 */

import { httpLimits } from '../../base/delivery-limits.ts';
import { ChunkedDecoder } from '../../engine/http/chunked-decoder.ts';
import { BODY, SCAN } from '../../engine/http/head-scanner.ts';
import type { Refusal } from '../../engine/http/refusal.ts';
import { RequestHeadParser } from '../../engine/http/request-head.ts';
import { ResponseHeadParser } from '../../engine/http/response-head.ts';

/** One record of http-parsing.jsonl. */
export interface ParsingCase {
  readonly title: string;
  readonly source: string;
  readonly direction: 'request' | 'response';
  readonly wire_b64: string;
  readonly verdict: 'accept' | 'reject' | 'pause' | 'no-desync';
  readonly mode?: string;
  readonly messages?: number;
  readonly body_len?: number;
  readonly settings?: readonly (readonly [string, string])[];
}

/** What became of one case. */
export interface Judgement {
  readonly result: 'passed' | 'explained' | 'skipped' | 'failed';
  readonly reason: string;
}

/** What reading a wire to its end gave. */
export interface Reading {
  /** Complete messages before the end or the refusal. */
  readonly messages: number;
  readonly bodyBytes: number;
  readonly refusal: Refusal | null;
  /** True when the bytes ended inside a message. */
  readonly cut: boolean;
  /** True when bytes follow a message after which the connection closes. */
  readonly dataAfterClose: boolean;
}

/** Reasons for which we refuse what a general parser takes. */
const stricter: Readonly<Record<string, string>> = {
  host_missing: 'RFC 9112 section 3.2: a server must answer 400 to HTTP/1.1 without Host',
  transfer_encoding: 'only `chunked`, once: other codings have no one reading among origins',
  target: 'RFC 9112 section 3.2: visible ASCII without a fragment; `*` is for OPTIONS alone',
  userinfo: 'RFC 9110 section 4.2.4: userinfo in a target is to be treated as an error',
  version: 'HTTP/1.x only: RTSP and ICE are not served',
  version_missing: 'HTTP/0.9 is not served',
  status_line: 'HTTP/1.x only: RTSP and ICE origins are refused',
  content_length_and_transfer_encoding: 'two framings: refused, whatever one server prefers',
  content_type_twice: 'RFC 9110 section 8.3: two media types have no one reading',
  connect_method: 'a reverse proxy opens no tunnels',
  trace_method: 'RFC 9110 section 9.3.8: TRACE shows what scripts may not see',
  expectation: 'RFC 9110 section 10.1.1: an expectation that is not known is not met',
  connection_names_content: 'RFC 9110 section 7.6.1: not for fields meant for all recipients',
  websocket: 'RFC 6455 section 4.2.1: a handshake is of version 13, with one key',
};

/** Judges one case. */
export function judge(item: ParsingCase): Judgement {
  const settings = new Map(item.source === 'gunicorn' ? gunicornDefaults : []);
  for (const [key, value] of item.settings ?? []) settings.set(key, value);
  const unmapped = [...settings.keys()].filter((key) => !mappedSettings.has(key));
  if (unmapped.length > 0) return { result: 'skipped', reason: `setting ${unmapped.join(', ')}` };
  const wire = Buffer.from(item.wire_b64, 'base64');
  const reading = item.direction === 'request' ? readRequests(wire, settings) : readResponses(wire);
  if (item.verdict === 'no-desync') return judgeDesync(reading);
  const lenient = item.mode !== undefined && item.mode.includes('-lenient-');
  if (item.verdict === 'reject' || lenient) return judgeReject(item, reading, lenient);
  return judgeAccept(item, reading);
}

/** gunicorn's parser options that have a counterpart here (its limit per field has none). */
const mappedSettings = new Set([
  'limit_request_fields',
  'limit_request_line',
  'limit_request_field_size',
]);

/** The limits that gunicorn's cases expect by default. */
const gunicornDefaults: readonly (readonly [string, string])[] = [
  ['limit_request_line', '4094'],
  ['limit_request_fields', '100'],
];

function judgeDesync(reading: Reading): Judgement {
  // Refused, or one message with one framing; what is left over is refused or a message by itself.
  const { refusal, messages } = reading;
  if (refusal !== null) return { result: 'passed', reason: refusal.reason };
  return messages <= 1 || reading.cut
    ? { result: 'passed', reason: 'one framing' }
    : { result: 'failed', reason: `${messages} messages` };
}

function judgeReject(item: ParsingCase, reading: Reading, lenient: boolean): Judgement {
  if (reading.refusal !== null) return { result: 'passed', reason: reading.refusal.reason };
  if (reading.cut) return { result: 'passed', reason: 'waits for more and times out with 408' };
  if (reading.dataAfterClose)
    return { result: 'passed', reason: 'what follows close is never read' };
  const explained = laxer(item, lenient);
  return explained === null
    ? { result: 'failed', reason: 'accepted' }
    : { result: 'explained', reason: explained };
}

/** Why we take what another parser rejects; null when we have no reason. */
function laxer(item: ParsingCase, lenient: boolean): string | null {
  const line = Buffer.from(item.wire_b64, 'base64').toString('latin1').split('\r\n')[0] ?? '';
  if (lenient) return null;
  if (item.source === 'llhttp' && /^[A-Z]+ \/\S* HTTP\/1\.[01]$/.test(line)) {
    return 'any token is a method: which are allowed is for the rules (911100)';
  }
  if (/LimitRequest/.test(JSON.stringify(item))) return 'within our limits, which are larger';
  return null;
}

function judgeAccept(item: ParsingCase, reading: Reading): Judgement {
  const { refusal } = reading;
  if (refusal !== null) {
    const reason = stricter[refusal.reason];
    if (reason === undefined) return { result: 'failed', reason: refusal.reason };
    return { result: 'explained', reason: `${refusal.reason}: ${reason}` };
  }
  const expected = item.messages;
  if (reading.cut && item.body_len === 0 && expected !== undefined && expected > reading.messages) {
    return { result: 'explained', reason: 'the case tells its parser to skip announced bodies' };
  }
  if (expected !== undefined && reading.messages < expected && !reading.dataAfterClose) {
    return { result: 'failed', reason: `${reading.messages} messages, not ${expected}` };
  }
  return { result: 'passed', reason: '' };
}

function readRequests(wire: Buffer, settings: ReadonlyMap<string, string>): Reading {
  const fieldsMax = Number(settings.get('limit_request_fields') ?? httpLimits.fieldsMax);
  const targetBytesMax = Number(settings.get('limit_request_line') ?? httpLimits.targetBytesMax);
  const parser = new RequestHeadParser({ ...httpLimits, fieldsMax, targetBytesMax });
  parser.mayUpgrade = true;
  let at = 0;
  let messages = 0;
  let bodyBytes = 0;
  const state = (refusal: Refusal | null, cut: boolean, dataAfterClose = false): Reading => ({
    messages,
    bodyBytes,
    refusal,
    cut,
    dataAfterClose,
  });
  while (at < wire.length) {
    parser.reset(at);
    const result = parser.execute(wire, wire.length);
    if (result === SCAN.MORE) return state(null, !onlyEmptyLines(wire, at));
    if (parser.refusal !== null && parser.refusal.reason !== 'host_missing')
      return state(parser.refusal, false);
    const body = readBody(wire, parser.headEnd, parser.framing, parser.contentLength);
    bodyBytes += body.bytes;
    if (body.refusal !== null) return state(body.refusal, false);
    if (body.cut) return state(null, true);
    messages++;
    at = body.end;
    const open = parser.version === 11 ? !parser.connectionClose : parser.keepAlive;
    if (!open && at < wire.length) return state(null, false, true);
  }
  return state(null, false);
}

function readResponses(wire: Buffer): Reading {
  const parser = new ResponseHeadParser();
  let at = 0;
  let messages = 0;
  let bodyBytes = 0;
  const state = (refusal: Refusal | null, cut: boolean, dataAfterClose = false): Reading => ({
    messages,
    bodyBytes,
    refusal,
    cut,
    dataAfterClose,
  });
  while (at < wire.length) {
    parser.begin(at, false);
    const result = parser.execute(wire, wire.length);
    if (result === SCAN.MORE) return state(null, !onlyEmptyLines(wire, at));
    if (result === SCAN.REFUSED) return state(parser.refusal, false);
    const body = readBody(wire, parser.headEnd, parser.framing, parser.contentLength);
    bodyBytes += body.bytes;
    if (body.refusal !== null) return state(body.refusal, false);
    if (body.cut) return state(null, true);
    messages++;
    at = body.end;
    if (parser.status === 101) return state(null, false);
    if (!parser.keepAlive && at < wire.length) return state(null, false, true);
  }
  return state(null, false);
}

interface BodyReading {
  readonly end: number;
  readonly bytes: number;
  readonly cut: boolean;
  readonly refusal: Refusal | null;
}

function readBody(wire: Buffer, start: number, framing: number, length: number): BodyReading {
  if (framing === BODY.NONE) return { end: start, bytes: 0, cut: false, refusal: null };
  if (framing === BODY.CLOSE) {
    return { end: wire.length, bytes: wire.length - start, cut: false, refusal: null };
  }
  if (framing === BODY.LENGTH) {
    const end = Math.min(wire.length, start + length);
    return { end, bytes: end - start, cut: end < start + length, refusal: null };
  }
  const decoder = new ChunkedDecoder();
  decoder.reset();
  const result = decoder.decode(Buffer.from(wire), start, wire.length);
  const bytes = decoder.dataEnd - start;
  if (result === SCAN.REFUSED)
    return { end: start, bytes: 0, cut: false, refusal: decoder.refusal };
  return { end: decoder.consumed, bytes, cut: result === SCAN.MORE, refusal: null };
}

function onlyEmptyLines(wire: Buffer, at: number): boolean {
  for (let i = at; i < wire.length; i++) if (wire[i] !== 0x0d && wire[i] !== 0x0a) return false;
  return true;
}
