/**
 * The field lines of a message head (RFC 9112 section 5): one resumable pass over bytes that fills
 * the spans of a MessageHead and the kind of every field. Request and response heads add their
 * start lines. Makes no strings and keeps no bytes.
 */

import { httpLimits } from '../../base/delivery-limits.ts';
import { SPAN } from '../contract/message.ts';
import { REFUSAL, type Refusal } from './refusal.ts';
import { CLASS, DIGIT, FIELD, TOKEN, VALUE, equalsIgnoreCase, fieldKind } from './tables.ts';

/** What `execute` says. */
export const SCAN = { MORE: 0, DONE: 1, REFUSED: 2 } as const;

/** How a body is delimited. */
export const BODY = { NONE: 0, LENGTH: 1, CHUNKED: 2, CLOSE: 3 } as const;

/** Bounds of one head. */
export interface HeadLimits {
  readonly headBytesMax: number;
  readonly targetBytesMax: number;
  readonly fieldsMax: number;
}

/** Bytes that delimit. */
export const CR = 0x0d;
export const LF = 0x0a;
export const SP = 0x20;
export const HT = 0x09;
const COLON = 0x3a;
const COMMA = 0x2c;

/** States of field scanning; start lines use numbers below 10. */
export const STATE = {
  FIELD: 10,
  NAME: 11,
  LEAD: 12,
  VALUE: 13,
  VALUE_LF: 14,
  END_LF: 15,
} as const;

/** A bit beside the kind: the line reads `name: value` with exactly one blank. */
export const CANONICAL = 0x80;
/** The bits that tell the kind. */
export const KIND_MASK = 0x7f;

const chunkedBytes = Buffer.from('chunked');
const closeBytes = Buffer.from('close');
const keepAliveBytes = Buffer.from('keep-alive');
const upgradeBytes = Buffer.from('upgrade');

/** Common part of both head parsers; one instance serves many messages, one after another. */
export abstract class HeadScanner {
  /** Spans of the head, laid out as `SPAN` says; offsets into the bytes given to `execute`. */
  spans = new Int32Array(SPAN.fields + 4 * 32);
  /** Kind of each field, `FIELD` plus the `CANONICAL` bit. */
  kinds = new Uint8Array(32);
  fieldCount = 0;
  /** Offset after the head; valid once done. */
  headEnd = 0;
  /** Set when refused, and when done but not to be forwarded. */
  refusal: Refusal | null = null;
  /** -1 when there is none. */
  contentLength = -1;
  connectionClose = false;
  connectionKeepAlive = false;
  connectionUpgrade = false;

  protected readonly limits: HeadLimits;
  protected state = 0;
  protected start = 0;
  protected pos = 0;
  protected encodings = 0;
  protected chunkedOnly = false;
  private nominated: number[] = [];

  protected constructor(limits: HeadLimits) {
    this.limits = limits;
  }

  /** Forgets the last message; the next one begins at `start`. */
  reset(start: number): void {
    this.state = 0;
    this.start = start;
    this.pos = start;
    this.fieldCount = 0;
    this.headEnd = 0;
    this.refusal = null;
    this.contentLength = -1;
    this.connectionClose = false;
    this.connectionKeepAlive = false;
    this.connectionUpgrade = false;
    this.encodings = 0;
    this.chunkedOnly = false;
    if (this.nominated.length > 0) this.nominated = [];
  }

  /** True when the start line was read to its end. */
  get lineRead(): boolean {
    return this.state >= 10;
  }

  /** True while not one byte of a start line was seen. */
  get untouched(): boolean {
    return this.state === 0;
  }

  /** The lines of fields that were read to their end. */
  fieldLines(bytes: Buffer): Buffer {
    const first = this.spans[SPAN.fields]!;
    if (this.fieldCount === 0) return bytes.subarray(0, 0);
    const lastEnd = this.spans[SPAN.fields + 4 * this.fieldCount - 1]!;
    return bytes.subarray(first, lastEnd);
  }

  /** Copy of the spans in use, for whoever keeps the head. */
  copySpans(): Int32Array {
    return this.spans.slice(0, SPAN.fields + 4 * this.fieldCount);
  }

  protected refuse(refusal: Refusal): number {
    this.refusal = refusal;
    return SCAN.REFUSED;
  }

  /** Notes the first reason not to forward; scanning continues. */
  protected note(refusal: Refusal): void {
    this.refusal ??= refusal;
  }

  /** Called once per complete field line. */
  protected abstract onField(bytes: Uint8Array, kind: number, at: number): number;
  /** Called at the empty line; decides framing. */
  protected abstract onHeadEnd(bytes: Uint8Array): number;

  /** Scans fields from `this.pos` up to `stop`. */
  protected scanFields(bytes: Uint8Array, stop: number): number {
    let p = this.pos;
    let at = SPAN.fields + 4 * this.fieldCount;
    while (p < stop) {
      switch (this.state) {
        case STATE.FIELD:
          if (bytes[p] === CR) {
            this.state = STATE.END_LF;
            p++;
            break;
          }
          if (!this.openField(p)) return this.refuse(REFUSAL.tooManyFields);
          at = SPAN.fields + 4 * this.fieldCount;
          break;
        case STATE.NAME:
          while (p < stop && (CLASS[bytes[p]!]! & TOKEN) !== 0) p++;
          if (p === stop) break;
          if (bytes[p] !== COLON || p === this.spans[at]) return this.refuse(nameFault(bytes, p));
          this.spans[at + 1] = p++;
          this.state = STATE.LEAD;
          break;
        case STATE.LEAD:
          while (p < stop && (bytes[p] === SP || bytes[p] === HT)) p++;
          if (p === stop) break;
          this.spans[at + 2] = p;
          this.state = STATE.VALUE;
          break;
        case STATE.VALUE:
          while (p < stop && (CLASS[bytes[p]!]! & VALUE) !== 0) p++;
          if (p === stop) break;
          if (bytes[p] === LF) return this.refuse(REFUSAL.bareLf);
          if (bytes[p] === 0) return this.refuse(REFUSAL.nul);
          if (bytes[p] !== CR) {
            this.note(REFUSAL.fieldValue);
            p++;
            break;
          }
          this.spans[at + 3] = p++;
          this.state = STATE.VALUE_LF;
          break;
        case STATE.VALUE_LF: {
          if (bytes[p] !== LF) return this.refuse(REFUSAL.bareCr);
          p++;
          const result = this.closeField(bytes, at);
          if (result !== SCAN.MORE) return result;
          break;
        }
        default:
          if (bytes[p] !== LF) return this.refuse(REFUSAL.bareCr);
          return this.finish(bytes, p + 1);
      }
    }
    this.pos = p;
    return SCAN.MORE;
  }

  private openField(p: number): boolean {
    if (this.fieldCount >= this.limits.fieldsMax) return false;
    if (this.fieldCount === this.kinds.length) this.grow();
    this.spans[SPAN.fields + 4 * this.fieldCount] = p;
    this.state = STATE.NAME;
    return true;
  }

  private grow(): void {
    const kinds = new Uint8Array(this.kinds.length * 2);
    kinds.set(this.kinds);
    this.kinds = kinds;
    const spans = new Int32Array(SPAN.fields + 4 * kinds.length);
    spans.set(this.spans);
    this.spans = spans;
  }

  private closeField(bytes: Uint8Array, at: number): number {
    const spans = this.spans;
    const valueStart = spans[at + 2]!;
    const lineEnd = spans[at + 3]!;
    let valueEnd = lineEnd;
    while (valueEnd > valueStart && isBlank(bytes[valueEnd - 1]!)) valueEnd--;
    spans[at + 3] = valueEnd;
    const nameEnd = spans[at + 1]!;
    const kind = fieldKind(bytes, spans[at]!, nameEnd);
    const canonical =
      valueEnd === lineEnd && valueStart === nameEnd + 2 && bytes[nameEnd + 1] === SP;
    this.kinds[this.fieldCount] = canonical ? kind | CANONICAL : kind;
    this.fieldCount++;
    this.state = STATE.FIELD;
    return kind === FIELD.OTHER ? SCAN.MORE : this.onField(bytes, kind, at);
  }

  private finish(bytes: Uint8Array, headEnd: number): number {
    this.headEnd = headEnd;
    this.pos = headEnd;
    this.spans[SPAN.fieldCount] = this.fieldCount;
    if (this.nominated.length > 0) this.markNominated(bytes);
    return this.onHeadEnd(bytes);
  }

  /** Handles the fields that both directions read the same way. */
  protected onCommonField(bytes: Uint8Array, kind: number, at: number): number {
    const start = this.spans[at + 2]!;
    const end = this.spans[at + 3]!;
    if (kind === FIELD.CONTENT_LENGTH) return this.onContentLength(bytes, start, end);
    if (kind === FIELD.CONNECTION) return this.onConnection(bytes, start, end);
    if (kind === FIELD.TRANSFER_ENCODING) {
      this.encodings++;
      this.chunkedOnly =
        this.encodings === 1 &&
        equalsIgnoreCase(bytes, start, end, chunkedBytes) &&
        !this.hasTabs(bytes, this.spans[at + 1]! + 1, start, end);
    }
    return SCAN.MORE;
  }

  /** True for tabs round a value: allowed, but parsers differ on whether they belong to it. */
  private hasTabs(bytes: Uint8Array, from: number, start: number, end: number): boolean {
    for (let i = from; i < start; i++) if (bytes[i] === HT) return true;
    for (let i = end; bytes[i] !== CR; i++) if (bytes[i] === HT) return true;
    return false;
  }

  private onContentLength(bytes: Uint8Array, start: number, end: number): number {
    if (this.contentLength >= 0) return this.refuse(REFUSAL.contentLengthTwice);
    const digits = end - start;
    if (digits === 0 || digits > httpLimits.contentLengthDigitsMax) {
      return this.refuse(REFUSAL.contentLength);
    }
    let value = 0;
    for (let i = start; i < end; i++) {
      if ((CLASS[bytes[i]!]! & DIGIT) === 0) return this.refuse(REFUSAL.contentLength);
      value = value * 10 + (bytes[i]! - 0x30);
    }
    this.contentLength = value;
    return SCAN.MORE;
  }

  private onConnection(bytes: Uint8Array, start: number, end: number): number {
    let p = start;
    let tokens = 0;
    while (p < end) {
      while (p < end && (isBlank(bytes[p]!) || bytes[p] === COMMA)) p++;
      const from = p;
      while (p < end && bytes[p] !== COMMA) p++;
      let to = p;
      while (to > from && isBlank(bytes[to - 1]!)) to--;
      if (to === from) continue;
      if (++tokens > httpLimits.connectionTokensMax) return this.refuse(REFUSAL.connectionTokens);
      this.onConnectionToken(bytes, from, to);
    }
    return SCAN.MORE;
  }

  private onConnectionToken(bytes: Uint8Array, from: number, to: number): void {
    if (equalsIgnoreCase(bytes, from, to, closeBytes)) this.connectionClose = true;
    else if (equalsIgnoreCase(bytes, from, to, keepAliveBytes)) this.connectionKeepAlive = true;
    else if (equalsIgnoreCase(bytes, from, to, upgradeBytes)) this.connectionUpgrade = true;
    else this.nominated.push(from, to);
  }

  /**
   * RFC 9110 section 7.6.1: what Connection names goes no further than this hop. Without the fields
   * that say how to read the content an origin would read it otherwise than the rules did.
   */
  private markNominated(bytes: Uint8Array): void {
    for (let i = 0; i < this.fieldCount; i++) {
      const at = SPAN.fields + 4 * i;
      const start = this.spans[at]!;
      const end = this.spans[at + 1]!;
      for (let n = 0; n < this.nominated.length; n += 2) {
        const from = this.nominated[n]!;
        if (!sameName(bytes, start, end, from, this.nominated[n + 1]!)) continue;
        const kind = this.kinds[i]! & KIND_MASK;
        if (kind === FIELD.CONTENT_TYPE || kind === FIELD.CONTENT_ENCODING) {
          this.note(REFUSAL.connectionNamesContent);
        }
        if (kind === FIELD.OTHER || kind >= FIELD.USER_AGENT) this.kinds[i] = FIELD.NOMINATED;
      }
    }
  }
}

function isBlank(byte: number): boolean {
  return byte === SP || byte === HT;
}

function sameName(b: Uint8Array, start: number, end: number, from: number, to: number): boolean {
  if (end - start !== to - from) return false;
  for (let i = 0; i < end - start; i++) {
    if ((b[start + i]! | 0x20) !== (b[from + i]! | 0x20)) return false;
  }
  return true;
}

function nameFault(bytes: Uint8Array, p: number): Refusal {
  const byte = bytes[p]!;
  if (byte === LF) return REFUSAL.bareLf;
  if (byte === 0) return REFUSAL.nul;
  if (!isBlank(byte)) return REFUSAL.fieldName;
  const previous = p === 0 ? LF : bytes[p - 1]!;
  return previous === LF ? REFUSAL.obsFold : REFUSAL.spaceBeforeColon;
}
