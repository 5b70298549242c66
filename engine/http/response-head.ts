/**
 * Owns the response head: status line and response framing (RFC 9112 sections 4 and 6.3). An origin
 * whose framing can be read in two ways is refused. Resumable at every byte; makes no strings.
 */

import { httpLimits } from '../base/limits.ts';
import { SPAN } from '../contract/message.ts';
import { BODY, CR, HeadScanner, LF, SCAN, SP, type HeadLimits } from './head-scanner.ts';
import { REFUSAL } from './refusal.ts';
import { CLASS, DIGIT, FIELD, VALUE } from './tables.ts';

const START = { BEGIN: 0, EMPTY_LF: 1, PREFIX: 2, STATUS: 3, REASON: 4, LF: 5 } as const;
const prefix = Buffer.from('HTTP/1.');

/** Reads response heads, one after another. */
export class ResponseHeadParser extends HeadScanner {
  status = 0;
  /** 10 or 11. */
  version = 0;
  /** `BODY.NONE`, `LENGTH`, `CHUNKED` or `CLOSE`. */
  framing: number = BODY.NONE;
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
    return kind <= FIELD.CONNECTION ? this.onCommonField(bytes, kind, at) : SCAN.MORE;
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
