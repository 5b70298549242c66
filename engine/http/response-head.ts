/**
 * The response head: status line and response framing (RFC 9112 sections 4 and 6.3). An origin
 * whose framing can be read in two ways is refused. Resumable at every byte; makes no strings.
 */

import { httpLimits } from '../../base/delivery-limits.ts';
import { SPAN } from '../contract/message.ts';
import { BODY, CR, HeadScanner, LF, SCAN, SP, type HeadLimits } from './head-scanner.ts';
import { REFUSAL } from './refusal.ts';
import { CLASS, DIGIT, equalsIgnoreCase, FIELD, VALUE } from './tables.ts';

const START = { BEGIN: 0, EMPTY_LF: 1, PREFIX: 2, STATUS: 3, REASON: 4, LF: 5 } as const;
const prefix = Buffer.from('HTTP/1.');
const timeoutBytes = Buffer.from('timeout=');
const idleSecondsMax = 86_400;

/** Reads response heads, one after another. */
export class ResponseHeadParser extends HeadScanner {
  status = 0;
  /** 10 or 11. */
  version = 0;
  /** `BODY.NONE`, `LENGTH`, `CHUNKED` or `CLOSE`. */
  framing: number = BODY.NONE;
  /** True when the origin says when it answered. */
  hasDate = false;
  /** For how long the origin says that it keeps an idle connection; -1 when it says nothing. */
  idleSeconds = -1;
  private toHead = false;
  private emptyLines = 0;

  constructor(limits: HeadLimits = httpLimits) {
    super(limits);
  }

  /** Begins a response at `start`; `toHead` says that the request was HEAD, so no body follows. */
  begin(start: number, toHead: boolean): void {
    this.reset(start);
    this.toHead = toHead;
    this.status = 0;
    this.version = 0;
    this.framing = BODY.NONE;
    this.hasDate = false;
    this.idleSeconds = -1;
    this.emptyLines = 0;
  }

  /** As `RequestHeadParser.execute`. */
  execute(bytes: Uint8Array, end: number): number {
    const headStop = this.start + this.limits.headBytesMax;
    const stop = end < headStop ? end : headStop;
    while (this.state < 10 && this.pos < stop) {
      const result = this.scanLinePart(bytes, stop);
      if (result !== SCAN.MORE) return result;
    }
    const result = this.state < 10 ? SCAN.MORE : this.scanFields(bytes, stop);
    if (result !== SCAN.MORE || stop < headStop) return result;
    return this.refuse(REFUSAL.headTooLarge);
  }

  private scanLinePart(bytes: Uint8Array, stop: number): number {
    const spans = this.spans;
    const byte = bytes[this.pos]!;
    switch (this.state) {
      case START.BEGIN:
        if (byte === CR) {
          this.pos++;
          this.state = START.EMPTY_LF;
          break;
        }
        spans[SPAN.lineStart] = this.pos;
        spans[SPAN.protocolStart] = this.pos;
        this.state = START.PREFIX;
        break;
      case START.EMPTY_LF:
        if (byte !== LF) return this.refuse(REFUSAL.bareCr);
        if (++this.emptyLines > httpLimits.leadingEmptyLinesMax) {
          return this.refuse(REFUSAL.emptyLine);
        }
        this.pos++;
        this.state = START.BEGIN;
        break;
      case START.PREFIX:
        return this.scanProtocol(byte);
      case START.STATUS:
        return this.scanStatus(byte);
      case START.REASON:
        while (this.pos < stop && (CLASS[bytes[this.pos]!]! & VALUE) !== 0) this.pos++;
        if (this.pos === stop) break;
        if (bytes[this.pos] !== CR) return this.refuse(REFUSAL.statusLine);
        spans[SPAN.secondEnd] = this.pos++;
        this.state = START.LF;
        break;
      default:
        if (byte !== LF) return this.refuse(REFUSAL.bareCr);
        spans[SPAN.lineEnd] = this.pos - 1;
        this.pos++;
        this.state = 10;
    }
    return SCAN.MORE;
  }

  /** One byte of `HTTP/1.x `. */
  private scanProtocol(byte: number): number {
    const index = this.pos - this.spans[SPAN.protocolStart]!;
    if (index < 7) {
      if (byte !== prefix[index]) return this.refuse(REFUSAL.statusLine);
    } else if (index === 7) {
      if (byte !== 0x30 && byte !== 0x31) return this.refuse(REFUSAL.version);
      this.version = byte === 0x31 ? 11 : 10;
    } else {
      if (byte !== SP) return this.refuse(REFUSAL.statusLine);
      this.spans[SPAN.protocolEnd] = this.pos;
      this.spans[SPAN.firstStart] = this.pos + 1;
      this.state = START.STATUS;
    }
    this.pos++;
    return SCAN.MORE;
  }

  /** One byte of the three digits, and what follows them: a blank and a reason, or the line end. */
  private scanStatus(byte: number): number {
    const index = this.pos - this.spans[SPAN.firstStart]!;
    if (index < 3) {
      if ((CLASS[byte]! & DIGIT) === 0) return this.refuse(REFUSAL.statusLine);
      this.status = this.status * 10 + (byte - 0x30);
    } else {
      if (this.status < 100 || (byte !== SP && byte !== CR)) return this.refuse(REFUSAL.statusLine);
      this.spans[SPAN.firstEnd] = this.pos;
      this.spans[SPAN.secondStart] = byte === SP ? this.pos + 1 : this.pos;
      this.spans[SPAN.secondEnd] = this.pos;
      this.state = byte === SP ? START.REASON : START.LF;
    }
    this.pos++;
    return SCAN.MORE;
  }

  protected override onField(bytes: Uint8Array, kind: number, at: number): number {
    if (kind <= FIELD.CONNECTION) return this.onCommonField(bytes, kind, at);
    if (kind === FIELD.DATE) this.hasDate = true;
    else if (kind === FIELD.KEEP_ALIVE) {
      this.idleSeconds = idleSecondsOf(bytes, this.spans[at + 2]!, this.spans[at + 3]!);
    }
    return SCAN.MORE;
  }

  protected override onHeadEnd(): number {
    if (this.encodings > 0) {
      if (this.contentLength >= 0) return this.refuse(REFUSAL.lengthAndEncoding);
      if (this.version === 10) return this.refuse(REFUSAL.encodingInHttp10);
      if (!this.chunkedOnly) return this.refuse(REFUSAL.transferEncoding);
    }
    if (this.toHead || this.status < 200 || this.status === 204 || this.status === 304) {
      this.framing = BODY.NONE;
    } else if (this.encodings > 0) {
      this.framing = BODY.CHUNKED;
    } else if (this.contentLength >= 0) {
      this.framing = this.contentLength === 0 ? BODY.NONE : BODY.LENGTH;
    } else {
      this.framing = BODY.CLOSE;
    }
    // A field value with control characters is no framing question, but it is not passed on either.
    return this.refusal === null ? SCAN.DONE : SCAN.REFUSED;
  }

  /** Whether the origin will take another request on this connection. */
  get keepAlive(): boolean {
    if (this.connectionClose || this.framing === BODY.CLOSE) return false;
    // RFC 9112 section 6.1: who announces content where there is none may send it, too.
    if (this.status === 204 && (this.contentLength > 0 || this.encodings > 0)) return false;
    return this.version === 11 || this.connectionKeepAlive;
  }
}

/** Seconds in `timeout=5, max=100` (RFC 2068 section 19.7.1.1), at most a day; -1 without them. */
function idleSecondsOf(bytes: Uint8Array, start: number, end: number): number {
  let p = start;
  while (p < end && !equalsIgnoreCase(bytes, p, p + timeoutBytes.length, timeoutBytes)) p++;
  p += timeoutBytes.length;
  if (p >= end || (CLASS[bytes[p]!]! & DIGIT) === 0) return -1;
  let seconds = 0;
  for (; p < end && (CLASS[bytes[p]!]! & DIGIT) !== 0 && seconds < idleSecondsMax; p++) {
    seconds = seconds * 10 + (bytes[p]! - 0x30);
  }
  return Math.min(seconds, idleSecondsMax);
}
