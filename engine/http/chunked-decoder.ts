/**
 * The chunked transfer coding on the way in (RFC 9112 section 7.1), strictly: no blank after a
 * size, no bare line feed, well-formed extensions, trailers checked and thrown away. Resumable at
 * every byte.
 */

import { httpLimits } from '../../base/delivery-limits.ts';
import { CR, HT, LF, SCAN, SP } from './head-scanner.ts';
import { REFUSAL, type Refusal } from './refusal.ts';
import { CLASS, FIELD, fieldKind, HEX, HEX_VALUE, QDTEXT, TOKEN, VALUE } from './tables.ts';

const AT = {
  SIZE: 0,
  EXT_LEAD: 1,
  EXT_NAME: 2,
  EXT_VALUE: 3,
  EXT_TOKEN: 4,
  EXT_QUOTED: 5,
  EXT_ESCAPE: 6,
  EXT_AFTER: 7,
  SIZE_LF: 8,
  DATA: 9,
  DATA_CR: 10,
  DATA_LF: 11,
  TRAILER: 12,
  TRAILER_NAME: 13,
  TRAILER_VALUE: 14,
  TRAILER_LF: 15,
  END_LF: 16,
} as const;

const SEMICOLON = 0x3b;
const EQUALS = 0x3d;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;

/** Decodes one chunked body after another. */
export class ChunkedDecoder {
  /** Offset after the last byte read; what follows a finished body begins there. */
  consumed = 0;
  /** The decoded bytes of the last call are [start, dataEnd) of its buffer. */
  dataEnd = 0;
  refusal: Refusal | null = null;

  private state: number = AT.SIZE;
  private size = 0;
  private digits = 0;
  private extensionBytes = 0;
  /** Bytes of size lines, less those of content; never below none. */
  private overhead = 0;
  private trailerBytes = 0;
  /** Trailer lines as they came, the empty one included, where they are kept; a byte string. */
  trailers = '';
  private keepsTrailers = false;
  private readonly name = new Uint8Array(20);
  private nameLength = 0;

  /** Begins a new body; its trailers are kept where that is asked for. */
  reset(keepsTrailers = false): void {
    this.keepsTrailers = keepsTrailers;
    this.trailers = '';
    this.state = AT.SIZE;
    this.size = 0;
    this.digits = 0;
    this.extensionBytes = 0;
    this.overhead = 0;
    this.trailerBytes = 0;
    this.nameLength = 0;
    this.refusal = null;
  }

  /**
   * Decodes bytes [start, end) in place: the content moves to the front, [start, dataEnd).
   * Says `SCAN.MORE`, `SCAN.DONE` (see `consumed`) or `SCAN.REFUSED` (see `refusal`).
   */
  decode(bytes: Uint8Array, start: number, end: number): number {
    let p = start;
    let out = start;
    while (p < end) {
      if (this.state === AT.DATA) {
        const take = Math.min(this.size, end - p);
        if (out !== p) bytes.copyWithin(out, p, p + take);
        out += take;
        p += take;
        this.overhead = Math.max(0, this.overhead - take);
        this.size -= take;
        if (this.size === 0) this.state = AT.DATA_CR;
        continue;
      }
      const result = this.step(bytes[p]!);
      p++;
      if (result === SCAN.MORE) continue;
      this.dataEnd = out;
      this.consumed = p;
      return result;
    }
    this.dataEnd = out;
    this.consumed = p;
    return SCAN.MORE;
  }

  /** Bytes of the trailer section of a finished body, its empty line included; it ends there. */
  get trailerLength(): number {
    return this.trailerBytes;
  }

  private refuse(refusal: Refusal): number {
    this.refusal = refusal;
    return SCAN.REFUSED;
  }

  private step(byte: number): number {
    switch (this.state) {
      case AT.SIZE:
        return this.onSize(byte);
      case AT.SIZE_LF:
        if (byte !== LF) return this.refuse(REFUSAL.chunkSize);
        this.state = this.size === 0 ? AT.TRAILER : AT.DATA;
        this.digits = 0;
        this.extensionBytes = 0;
        return SCAN.MORE;
      case AT.DATA_CR:
        if (byte !== CR) return this.refuse(REFUSAL.chunkEnd);
        this.state = AT.DATA_LF;
        return SCAN.MORE;
      case AT.DATA_LF:
        if (byte !== LF) return this.refuse(REFUSAL.chunkEnd);
        this.state = AT.SIZE;
        return SCAN.MORE;
      default:
        return this.state >= AT.TRAILER ? this.onTrailer(byte) : this.onExtension(byte);
    }
  }

  private onSize(byte: number): number {
    if ((CLASS[byte]! & HEX) !== 0) {
      if (++this.digits > httpLimits.chunkSizeDigitsMax) return this.refuse(REFUSAL.chunkSize);
      if (++this.overhead > httpLimits.chunkOverheadBytesMax) {
        return this.refuse(REFUSAL.chunkOverhead);
      }
      this.size = this.size * 16 + HEX_VALUE[byte]!;
      return SCAN.MORE;
    }
    if (this.digits === 0) return this.refuse(REFUSAL.chunkSize);
    if (byte === CR) this.state = AT.SIZE_LF;
    else if (byte === SEMICOLON) this.state = AT.EXT_LEAD;
    else return this.refuse(REFUSAL.chunkSize);
    return SCAN.MORE;
  }

  private onExtension(byte: number): number {
    if (++this.extensionBytes > httpLimits.chunkExtensionBytesMax) {
      return this.refuse(REFUSAL.chunkExtension);
    }
    if (++this.overhead > httpLimits.chunkOverheadBytesMax) {
      return this.refuse(REFUSAL.chunkOverhead);
    }
    const token = (CLASS[byte]! & TOKEN) !== 0;
    switch (this.state) {
      case AT.EXT_LEAD:
        if (byte === SP || byte === HT) return SCAN.MORE;
        if (!token) return this.refuse(REFUSAL.chunkExtension);
        this.state = AT.EXT_NAME;
        return SCAN.MORE;
      case AT.EXT_NAME:
        if (token) return SCAN.MORE;
        if (byte !== EQUALS) return this.endExtension(byte);
        this.state = AT.EXT_VALUE;
        return SCAN.MORE;
      case AT.EXT_VALUE:
        if (byte === QUOTE) this.state = AT.EXT_QUOTED;
        else if (token) this.state = AT.EXT_TOKEN;
        else return this.refuse(REFUSAL.chunkExtension);
        return SCAN.MORE;
      case AT.EXT_QUOTED:
        if (byte === QUOTE) this.state = AT.EXT_AFTER;
        else if (byte === BACKSLASH) this.state = AT.EXT_ESCAPE;
        else if ((CLASS[byte]! & QDTEXT) === 0) return this.refuse(REFUSAL.chunkExtension);
        return SCAN.MORE;
      case AT.EXT_ESCAPE:
        if ((CLASS[byte]! & VALUE) === 0) return this.refuse(REFUSAL.chunkExtension);
        this.state = AT.EXT_QUOTED;
        return SCAN.MORE;
      default:
        if (this.state === AT.EXT_TOKEN && token) return SCAN.MORE;
        return this.endExtension(byte);
    }
  }

  private endExtension(byte: number): number {
    if (byte === CR) this.state = AT.SIZE_LF;
    else if (byte === SEMICOLON) this.state = AT.EXT_LEAD;
    else return this.refuse(REFUSAL.chunkExtension);
    return SCAN.MORE;
  }

  private onTrailer(byte: number): number {
    if (++this.trailerBytes > httpLimits.trailerBytesMax) return this.refuse(REFUSAL.trailer);
    if (this.keepsTrailers) this.trailers += String.fromCharCode(byte);
    switch (this.state) {
      case AT.TRAILER:
        if (byte === CR) {
          this.state = AT.END_LF;
          return SCAN.MORE;
        }
        this.nameLength = 0;
        this.state = AT.TRAILER_NAME;
        return this.onTrailerName(byte);
      case AT.TRAILER_NAME:
        return this.onTrailerName(byte);
      case AT.TRAILER_VALUE:
        if ((CLASS[byte]! & VALUE) !== 0) return SCAN.MORE;
        if (byte !== CR) return this.refuse(REFUSAL.trailer);
        this.state = AT.TRAILER_LF;
        return SCAN.MORE;
      case AT.TRAILER_LF:
        if (byte !== LF) return this.refuse(REFUSAL.trailer);
        this.state = AT.TRAILER;
        return SCAN.MORE;
      default:
        return byte === LF ? SCAN.DONE : this.refuse(REFUSAL.trailer);
    }
  }

  private onTrailerName(byte: number): number {
    if ((CLASS[byte]! & TOKEN) !== 0) {
      if (this.nameLength < this.name.length) this.name[this.nameLength] = byte;
      this.nameLength++;
      return SCAN.MORE;
    }
    if (byte !== COLON || this.nameLength === 0) return this.refuse(REFUSAL.trailer);
    const known = this.nameLength <= this.name.length;
    const kind = known ? fieldKind(this.name, 0, this.nameLength) : FIELD.OTHER;
    // RFC 9110 section 6.5.1: fields about framing and routing have no business in a trailer.
    const framing = kind !== FIELD.OTHER && kind <= FIELD.CONNECTION;
    if (framing || kind === FIELD.ALIAS) return this.refuse(REFUSAL.trailer);
    this.state = AT.TRAILER_VALUE;
    return SCAN.MORE;
  }
}
