/**
 * The request head: request line, target form, host and request framing (RFC 9112 sections 3 and
 * 6). Framing that two parties could read differently is refused at once; other oddities are read
 * leniently so that rules may see them, and carry a refusal for afterwards. Resumable at every
 * byte; makes no strings.
 */

import { httpLimits } from '../../base/delivery-limits.ts';
import { SPAN } from '../contract/message.ts';
import { BODY, CR, HeadScanner, HT, LF, SCAN, SP, type HeadLimits } from './head-scanner.ts';
import { REFUSAL, type Refusal } from './refusal.ts';
import { websocketKey } from './websocket.ts';
import { CLASS, DIGIT, equalsIgnoreCase, FIELD, HOST, TARGET, TOKEN } from './tables.ts';

/** The forms of a request target (RFC 9112 section 3.2). */
export const TARGET_FORM = { ORIGIN: 0, ABSOLUTE: 1, AUTHORITY: 2, ASTERISK: 3, OTHER: 4 } as const;

const START = {
  BEGIN: 0,
  EMPTY_LF: 1,
  METHOD: 2,
  TARGET: 3,
  PROTOCOL: 4,
  LF: 5,
  LENIENT: 6,
} as const;

const http = Buffer.from('HTTP/1.');
const http2Version = Buffer.from('HTTP/2.0');
const schemeHttp = Buffer.from('http://');
const schemeHttps = Buffer.from('https://');
const continueBytes = Buffer.from('100-continue');
const websocketBytes = Buffer.from('websocket');
const connectMethod = Buffer.from('CONNECT');
const optionsMethod = Buffer.from('OPTIONS');
const getMethod = Buffer.from('GET');
const headMethod = Buffer.from('HEAD');
const traceMethod = Buffer.from('TRACE');

/** Reads request heads, one after another. */
export class RequestHeadParser extends HeadScanner {
  /** `BODY.NONE`, `LENGTH` or `CHUNKED`. */
  framing: number = BODY.NONE;
  /** 10 or 11, 20 where `http2` allows it; 0 for anything else. */
  version = 0;
  /** Whether a WebSocket may be opened by this head; elsewhere that is refused. */
  mayUpgrade = false;
  /** The client's key where the head opens a WebSocket; null for every other request. */
  websocketKey: string | null = null;
  /** True for heads that an HTTP/2 session wrote out: their version is the one that counts. */
  http2 = false;
  targetForm: number = TARGET_FORM.ORIGIN;
  expectContinue = false;
  /** The client takes trailers (RFC 9110 section 10.1.4). */
  wantsTrailers = false;
  isHead = false;
  /** The authority that counts: of an absolute target, else of Host; equal when there is none. */
  hostStart = 0;
  hostEnd = 0;
  /** Offsets of path and query to forward; equal when an absolute target has neither. */
  pathStart = 0;
  pathEnd = 0;

  private hosts = 0;
  private contentTypes = 0;
  private emptyLines = 0;
  private websocket = false;
  private lineStart = 0;

  constructor(limits: HeadLimits = httpLimits) {
    super(limits);
  }

  override reset(start: number): void {
    super.reset(start);
    this.framing = BODY.NONE;
    this.version = 0;
    this.targetForm = TARGET_FORM.ORIGIN;
    this.expectContinue = false;
    this.wantsTrailers = false;
    this.isHead = false;
    this.hostStart = 0;
    this.hostEnd = 0;
    this.hosts = 0;
    this.contentTypes = 0;
    this.emptyLines = 0;
    this.websocket = false;
    this.websocketKey = null;
    this.lineStart = start;
  }

  /**
   * Reads on in `bytes` up to `end`. Shape: call again with the same bytes, grown at the end, while
   * it says `SCAN.MORE`. Once `DONE`, fields, framing and `refusal` hold until `reset`.
   */
  execute(bytes: Uint8Array, end: number): number {
    const headStop = this.start + this.limits.headBytesMax;
    const stop = end < headStop ? end : headStop;
    if (this.state < 10) {
      const result = this.scanLine(bytes, stop);
      if (result !== SCAN.MORE) return result;
      if (this.state < 10) {
        return stop === headStop ? this.refuse(REFUSAL.headTooLarge) : SCAN.MORE;
      }
    }
    const result = this.scanFields(bytes, stop);
    if (result !== SCAN.MORE || stop < headStop) return result;
    return this.refuse(REFUSAL.headTooLarge);
  }

  private scanLine(bytes: Uint8Array, limit: number): number {
    while (this.state < 10) {
      const lineMax = this.limits.targetBytesMax + httpLimits.requestLineExtraBytes;
      const lineStop = this.lineStart + lineMax;
      const stop = limit < lineStop ? limit : lineStop;
      if (this.pos >= stop) {
        return stop === lineStop ? this.refuse(REFUSAL.targetTooLong) : SCAN.MORE;
      }
      const result = this.state < START.METHOD ? this.begin(bytes) : this.scanLinePart(bytes, stop);
      if (result !== SCAN.MORE) return result;
    }
    return SCAN.MORE;
  }

  /** Before the request line: empty lines are passed over. */
  private begin(bytes: Uint8Array): number {
    const byte = bytes[this.pos]!;
    if (this.state === START.EMPTY_LF) {
      if (byte !== LF) return this.refuse(REFUSAL.bareCr);
      if (++this.emptyLines > httpLimits.leadingEmptyLinesMax)
        return this.refuse(REFUSAL.emptyLine);
      this.pos++;
      this.state = START.BEGIN;
    } else if (byte === CR) {
      this.pos++;
      this.state = START.EMPTY_LF;
    } else {
      this.lineStart = this.pos;
      this.spans[SPAN.lineStart] = this.pos;
      this.spans[SPAN.firstStart] = this.pos;
      this.state = START.METHOD;
    }
    return SCAN.MORE;
  }

  private scanLinePart(bytes: Uint8Array, stop: number): number {
    const spans = this.spans;
    let p = this.pos;
    switch (this.state) {
      case START.METHOD:
        while (p < stop && (CLASS[bytes[p]!]! & TOKEN) !== 0) p++;
        if (p < stop) {
          if (bytes[p] !== SP || p === this.lineStart) {
            this.state = START.LENIENT;
            break;
          }
          spans[SPAN.firstEnd] = p++;
          spans[SPAN.secondStart] = p;
          this.state = START.TARGET;
        }
        break;
      case START.TARGET:
        while (p < stop && (CLASS[bytes[p]!]! & TARGET) !== 0) p++;
        if (p < stop) {
          if (bytes[p] !== SP || p === spans[SPAN.secondStart]) {
            this.state = START.LENIENT;
            break;
          }
          spans[SPAN.secondEnd] = p++;
          spans[SPAN.protocolStart] = p;
          this.state = START.PROTOCOL;
        }
        break;
      case START.PROTOCOL:
        while (p < stop && (CLASS[bytes[p]!]! & TARGET) !== 0) p++;
        if (p < stop) {
          if (bytes[p] !== CR) {
            this.state = START.LENIENT;
            break;
          }
          spans[SPAN.protocolEnd] = p++;
          this.state = START.LF;
        }
        break;
      case START.LENIENT:
        while (p < stop && bytes[p] !== CR && bytes[p] !== LF && bytes[p] !== 0) p++;
        if (p < stop) {
          if (bytes[p] === LF) return this.refuse(REFUSAL.bareLf);
          if (bytes[p] === 0) return this.refuse(REFUSAL.nul);
          this.note(splitLenient(bytes, spans, this.lineStart, p));
          p++;
          this.state = START.LF;
        }
        break;
      default:
        if (bytes[p] !== LF) return this.refuse(REFUSAL.bareCr);
        spans[SPAN.lineEnd] = p - 1;
        this.pos = p + 1;
        return this.onLine(bytes);
    }
    this.pos = p;
    return SCAN.MORE;
  }

  private onLine(bytes: Uint8Array): number {
    const spans = this.spans;
    const targetStart = spans[SPAN.secondStart]!;
    const targetEnd = spans[SPAN.secondEnd]!;
    this.state = 10;
    if (targetEnd - targetStart > this.limits.targetBytesMax) {
      return this.refuse(REFUSAL.targetTooLong);
    }
    this.onProtocol(bytes, spans[SPAN.protocolStart]!, spans[SPAN.protocolEnd]!);
    this.onTarget(bytes, targetStart, targetEnd);
    const methodStart = spans[SPAN.firstStart]!;
    const methodEnd = spans[SPAN.firstEnd]!;
    this.isHead = spansEqual(bytes, methodStart, methodEnd, headMethod);
    if (spansEqual(bytes, methodStart, methodEnd, traceMethod)) this.note(REFUSAL.traceMethod);
    return SCAN.MORE;
  }

  private onProtocol(bytes: Uint8Array, start: number, end: number): void {
    const minor = bytes[end - 1]!;
    if (end - start === 8 && spansEqual(bytes, start, end - 1, http)) {
      if (minor === 0x31) this.version = 11;
      else if (minor === 0x30) this.version = 10;
    }
    if (this.http2 && spansEqual(bytes, start, end, http2Version)) this.version = 20;
    if (this.version !== 0) return;
    if (start === end) this.note(REFUSAL.versionMissing);
    else this.note(isLaterHttp(bytes, start, end) ? REFUSAL.versionUnsupported : REFUSAL.version);
  }

  private onTarget(bytes: Uint8Array, start: number, end: number): void {
    const spans = this.spans;
    const methodStart = spans[SPAN.firstStart]!;
    const methodEnd = spans[SPAN.firstEnd]!;
    this.pathStart = start;
    this.pathEnd = end;
    if (spansEqual(bytes, methodStart, methodEnd, connectMethod)) {
      this.targetForm = TARGET_FORM.AUTHORITY;
      // RFC 9110 section 9.3.6: the port is not optional here.
      const named = isAuthority(bytes, start, end) && bytes.lastIndexOf(0x3a, end - 1) > start;
      this.note(named ? REFUSAL.connectMethod : REFUSAL.target);
    } else if (bytes[start] === 0x2f) {
      this.targetForm = TARGET_FORM.ORIGIN;
    } else if (end - start === 1 && bytes[start] === 0x2a) {
      this.targetForm = TARGET_FORM.ASTERISK;
      if (!spansEqual(bytes, methodStart, methodEnd, optionsMethod)) this.note(REFUSAL.target);
    } else {
      this.onAbsoluteTarget(bytes, start, end);
    }
  }

  private onAbsoluteTarget(bytes: Uint8Array, start: number, end: number): void {
    let from = -1;
    if (equalsIgnoreCase(bytes, start, Math.min(end, start + 7), schemeHttp)) from = start + 7;
    if (equalsIgnoreCase(bytes, start, Math.min(end, start + 8), schemeHttps)) from = start + 8;
    if (from < 0) {
      this.targetForm = TARGET_FORM.OTHER;
      this.note(REFUSAL.target);
      return;
    }
    this.targetForm = TARGET_FORM.ABSOLUTE;
    let p = from;
    let at = -1;
    for (; p < end; p++) {
      const byte = bytes[p]!;
      if (byte === 0x2f || byte === 0x3f || byte === 0x23) break;
      if (byte === 0x40) at = p;
    }
    if (at >= 0) this.note(REFUSAL.userinfo);
    this.hostStart = at >= 0 ? at + 1 : from;
    this.hostEnd = p;
    this.pathStart = p;
    if (!isAuthority(bytes, this.hostStart, p) || this.hostStart === p) this.note(REFUSAL.target);
  }

  protected override onField(bytes: Uint8Array, kind: number, at: number): number {
    const start = this.spans[at + 2]!;
    const end = this.spans[at + 3]!;
    if (kind === FIELD.HOST) this.onHost(bytes, start, end);
    else if (kind === FIELD.EXPECT) {
      if (equalsIgnoreCase(bytes, start, end, continueBytes)) this.expectContinue = true;
      else this.note(REFUSAL.expectation);
    } else if (kind === FIELD.TE) {
      if (listsTrailers(bytes, start, end)) this.wantsTrailers = true;
    } else if (kind === FIELD.UPGRADE) {
      if (equalsIgnoreCase(bytes, start, end, websocketBytes)) this.websocket = true;
    } else if (kind === FIELD.CONTENT_TYPE) {
      // RFC 9110 section 5.3: not a list, so it comes once.
      if (++this.contentTypes > 1) this.note(REFUSAL.contentTypeTwice);
    } else if (kind <= FIELD.CONNECTION) return this.onCommonField(bytes, kind, at);
    return SCAN.MORE;
  }

  private onHost(bytes: Uint8Array, start: number, end: number): void {
    if (++this.hosts > 1) return this.note(REFUSAL.hostTwice);
    if (!isAuthority(bytes, start, end)) this.note(REFUSAL.hostInvalid);
    if (this.targetForm === TARGET_FORM.ABSOLUTE) {
      if (!sameText(bytes, this.hostStart, this.hostEnd, start, end)) {
        this.note(REFUSAL.hostMismatch);
      }
      return;
    }
    this.hostStart = start;
    this.hostEnd = end;
  }

  protected override onHeadEnd(bytes: Uint8Array): number {
    if (this.encodings > 0) {
      if (this.contentLength >= 0) return this.refuse(REFUSAL.lengthAndEncoding);
      if (this.version === 10) return this.refuse(REFUSAL.encodingInHttp10);
      if (!this.chunkedOnly) return this.refuse(REFUSAL.transferEncoding);
      this.framing = BODY.CHUNKED;
    } else if (this.contentLength > 0) {
      this.framing = BODY.LENGTH;
    }
    const bare = this.hosts === 0 || this.hostStart === this.hostEnd;
    if (this.version !== 10 && bare) this.note(REFUSAL.hostMissing);
    if (this.websocket && this.connectionUpgrade) this.onUpgrade(bytes);
    return SCAN.DONE;
  }

  /** RFC 6455 section 4.1: a GET over HTTP/1.1, or written as one for HTTP/2, without content. */
  private onUpgrade(bytes: Uint8Array): void {
    if (!this.mayUpgrade) return this.note(REFUSAL.upgrade);
    const { spans } = this;
    const get = spansEqual(bytes, spans[SPAN.firstStart]!, spans[SPAN.firstEnd]!, getMethod);
    const able = this.version === 11 || this.http2;
    const plain = get && able && this.contentLength < 0 && this.encodings === 0;
    this.websocketKey = plain ? websocketKey(bytes, this) : null;
    if (this.websocketKey === null) this.note(REFUSAL.websocket);
  }

  /** Whether the connection may carry another request after this one (RFC 9112 section 9.3). */
  get keepAlive(): boolean {
    if (this.connectionClose || this.refusal !== null) return false;
    return this.version >= 11 || (this.version === 10 && this.connectionKeepAlive);
  }
}

function spansEqual(bytes: Uint8Array, start: number, end: number, text: Uint8Array): boolean {
  if (end - start !== text.length) return false;
  for (let i = 0; i < text.length; i++) if (bytes[start + i] !== text[i]) return false;
  return true;
}

function isBlank(byte: number): boolean {
  return byte === SP || byte === HT;
}

/**
 * Splits a line that is not `method SP target SP protocol`: first word, last word, all between.
 * A single word after the method is the target, as in HTTP/0.9.
 */
function splitLenient(bytes: Uint8Array, spans: Int32Array, start: number, end: number): Refusal {
  let from = start;
  let to = end;
  while (from < to && isBlank(bytes[from]!)) from++;
  while (to > from && isBlank(bytes[to - 1]!)) to--;
  let p = from;
  let methodFault = false;
  for (; p < to && !isBlank(bytes[p]!); p++) {
    if ((CLASS[bytes[p]!]! & TOKEN) === 0) methodFault = true;
  }
  spans[SPAN.firstStart] = from;
  spans[SPAN.firstEnd] = p;
  while (p < to && isBlank(bytes[p]!)) p++;
  spans[SPAN.secondStart] = p;
  let last = to;
  while (last > p && !isBlank(bytes[last - 1]!)) last--;
  const hasProtocol = last > p;
  spans[SPAN.protocolStart] = hasProtocol ? last : to;
  spans[SPAN.protocolEnd] = to;
  let targetEnd = hasProtocol ? last : to;
  while (targetEnd > p && isBlank(bytes[targetEnd - 1]!)) targetEnd--;
  spans[SPAN.secondEnd] = targetEnd;
  if (methodFault) return REFUSAL.method;
  if (from === start && p < to && !hasProtocol) return REFUSAL.versionMissing;
  for (let i = p; i < targetEnd; i++) {
    if ((CLASS[bytes[i]!]! & TARGET) === 0) return REFUSAL.target;
  }
  return REFUSAL.requestLine;
}

/** HTTP/2 and later, as `HTTP/` digits and perhaps `.` digits. */
function isLaterHttp(bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start < 6 || end - start > 8) return false;
  if (!spansEqual(bytes, start, start + 5, http.subarray(0, 5))) return false;
  const major = bytes[start + 5]!;
  if (major < 0x31 || major > 0x39) return false;
  for (let p = start + 6; p < end; p++) {
    const digit = (CLASS[bytes[p]!]! & DIGIT) !== 0;
    if (p === start + 6 ? bytes[p] !== 0x2e : !digit) return false;
  }
  return true;
}

/** `host` or `host:port`, with brackets round an IPv6 address; empty is fine. */
function isAuthority(bytes: Uint8Array, start: number, end: number): boolean {
  let p = start;
  if (bytes[p] === 0x5b) {
    p++;
    while (p < end && (bytes[p] === 0x3a || (CLASS[bytes[p]!]! & HOST) !== 0)) p++;
    if (p === end || bytes[p] !== 0x5d) return false;
    p++;
  } else {
    while (p < end && (CLASS[bytes[p]!]! & HOST) !== 0) p++;
  }
  if (p === end) return true;
  if (bytes[p] !== 0x3a || end - p > 6) return false;
  for (p++; p < end; p++) if ((CLASS[bytes[p]!]! & DIGIT) === 0) return false;
  return true;
}

/** True when two stretches of `b` are the same but for the case of letters. */
function sameText(b: Uint8Array, start: number, end: number, from: number, to: number): boolean {
  if (end - start !== to - from) return false;
  for (let i = 0; i < end - start; i++) {
    if ((b[start + i]! | 0x20) !== (b[from + i]! | 0x20)) return false;
  }
  return true;
}

const trailersToken = /(?:^|,)[ \t]*trailers[ \t]*(?:,|$)/i;

function listsTrailers(bytes: Uint8Array, start: number, end: number): boolean {
  return trailersToken.test(
    String.fromCharCode(...bytes.subarray(start, Math.min(end, start + 256))),
  );
}
