/**
 * How an origin's answer is put on the wire for the client: framing for its HTTP version, the head
 * and body gathered into as few pieces as possible, and what is held back for inspection and then
 * released.
 */

import type { Clock } from '../../../base/clock.ts';
import type { ResponseFields } from '../../contract/delivery.ts';
import type { ByteWriter } from '../../http/byte-writer.ts';
import { BODY } from '../../http/head-scanner.ts';
import type { RequestHeadParser } from '../../http/request-head.ts';
import type { ResponseHeadParser } from '../../http/response-head.ts';
import { upgradeLines, writeInterimHead, writeResponseHead } from '../wire/forward-heads.ts';
import type { Holder } from '../wire/held-budget.ts';

const chunkedLine = 'Transfer-Encoding: chunked\r\n';
const closeLine = 'Connection: close\r\n';
const keepLine = 'Connection: keep-alive\r\n';
const crlf = Buffer.from('\r\n');

/** Parts of a chunk that is paid out. */
const CHUNK = { SIZE: 0, DATA: 1, END: 2 } as const;

/** Relays one response; the writer's open piece is its own until `takePiece`. */
export class ResponseRelay {
  /** Whether the client may send another request afterwards; known from `begin` on. */
  keepAlive = false;
  hasBody = false;
  /** Value of Strict-Transport-Security in place of the origin's; '' leaves that as it is. */
  strictTransport = '';
  /** Lines on rate limits in place of the origin's; '' leaves those as they are. */
  rateLines = '';
  /** What the site's delivery replaces; null for nothing. */
  fields: ResponseFields | null = null;
  /** Whether `sentHead` is wanted. */
  keepsHead = false;
  /** The head as the client gets it; null where it is not wanted, or there is none. */
  sentHead: Uint8Array | null = null;
  /** Trailer lines with their ends, sent where chunks or frames carry them. */
  trailers = '';
  /** Content bytes written so far. */
  bodyBytes = 0;
  /** Content bytes held back. */
  heldBytes = 0;
  /** True while what was held is paid out. */
  releasing = false;
  /** The place in the budget for what is held; to be set before `hold`. */
  holder: Holder | null = null;

  private readonly writer: ByteWriter;
  private readonly clock: Clock;
  private sent = false;
  private chunked = false;
  private wantsTrailers = false;
  private http10 = false;
  private upgraded = false;
  private contentLength = -1;
  private headPiece: Buffer | null = null;
  private held: Buffer[] = [];
  /** Offset of the unsent rest of the first held piece, while held pieces are sent. */
  private paidOut = 0;
  /** The part of the current chunk that comes next. */
  private chunkPart: number = CHUNK.SIZE;

  constructor(writer: ByteWriter, clock: Clock) {
    this.writer = writer;
    this.clock = clock;
  }

  /** Decides the framing towards the client; the length of `coded` content is not known. */
  begin(head: ResponseHeadParser, request: RequestHeadParser, keep: boolean, coded = false): void {
    const { framing } = head;
    const unknown =
      framing === BODY.CHUNKED || framing === BODY.CLOSE || (coded && framing !== BODY.NONE);
    this.http10 = request.version < 11;
    this.wantsTrailers = request.wantsTrailers;
    this.upgraded = head.status === 101;
    this.chunked = unknown && !this.http10 && !this.upgraded;
    this.keepAlive = keep && !(unknown && this.http10) && !this.upgraded;
    // What a WebSocket carries is no content of the answer.
    this.hasBody = framing !== BODY.NONE && !this.upgraded;
    // RFC 9110 section 8.6: none in 204; in HEAD and 304 it tells what a GET would have got.
    const unsaid = unknown || coded || head.status === 204;
    this.contentLength = unsaid ? -1 : head.contentLength;
  }

  private get closingLines(): string {
    if (this.upgraded) return upgradeLines;
    if (!this.keepAlive) return this.chunked ? chunkedLine + closeLine : closeLine;
    if (this.http10) return keepLine;
    return this.chunked ? chunkedLine : '';
  }

  /** The head of an informational answer; the writer holds nothing of the final one yet. */
  interimHead(bytes: Uint8Array, head: ResponseHeadParser): Buffer {
    writeInterimHead(this.writer, bytes, head);
    return this.writer.take();
  }

  writeHead(bytes: Uint8Array, head: ResponseHeadParser, requestId: string): void {
    const { closingLines, contentLength } = this;
    const nowMs = head.hasDate ? 0 : this.clock.nowMs();
    const { strictTransport, rateLines, fields } = this;
    const rest = {
      fields,
      nowMs,
      strictTransport,
      rateLines,
      trailers: this.chunked && this.wantsTrailers,
    };
    const facts = { requestId, closingLines, contentLength, ...rest };
    const before = this.writer.length;
    writeResponseHead(this.writer, bytes, head, facts);
    if (this.keepsHead) this.sentHead = this.writer.copyFrom(before);
  }

  /** Prepares the head to be written when inspection lets it. */
  keepHead(bytes: Uint8Array, head: ResponseHeadParser, requestId: string): void {
    this.writeHead(bytes, head, requestId);
    this.headPiece = this.writer.take();
  }

  write(bytes: Uint8Array, start: number, end: number): void {
    const length = end - start;
    if (length === 0) return;
    this.bodyBytes += length;
    if (!this.chunked) return this.writer.bytes(bytes, start, end);
    this.writer.chunkSize(length);
    this.writer.bytes(bytes, start, end);
    this.writer.crlf();
  }

  /** Keeps a copy; false when that is more than the budget has room for. */
  hold(bytes: Uint8Array, start: number, end: number): boolean {
    const heldBytes = this.heldBytes + end - start;
    if (!this.holder!.hold(heldBytes)) return false;
    this.held.push(Buffer.from(bytes.subarray(start, end)));
    this.heldBytes = heldBytes;
    return true;
  }

  /** All that is held, in one piece; it stays held. */
  joinHeld(): Buffer {
    const whole = this.held.length === 1 ? this.held[0]! : Buffer.concat(this.held);
    this.held = whole.length > 0 ? [whole] : [];
    return whole;
  }

  /**
   * Writes the kept head, and everything held where that is at most `atOnceMax` bytes; more is paid
   * out by `nextReleased`.
   */
  beginRelease(atOnceMax: number): void {
    this.releasing = this.heldBytes > atOnceMax;
    if (this.releasing) return;
    if (this.headPiece !== null) this.writer.bytes(this.headPiece, 0, this.headPiece.length);
    this.headPiece = null;
    for (const piece of this.held) this.write(piece, 0, piece.length);
    this.endRelease();
  }

  /**
   * The next piece to be sent of what is held, on the wire as it is; null when all was sent. Held
   * bytes are not copied: output memory that a slow client keeps would keep that of others.
   */
  nextReleased(bytesMax: number): Buffer | null {
    const head = this.headPiece;
    if (head !== null) {
      this.headPiece = null;
      this.sent = true;
      return head;
    }
    if (this.chunkPart === CHUNK.END) {
      this.chunkPart = CHUNK.SIZE;
      return crlf;
    }
    const first = this.held[0];
    if (first === undefined) return null;
    const length = Math.min(bytesMax, first.length - this.paidOut);
    if (this.chunked && this.chunkPart === CHUNK.SIZE) {
      this.chunkPart = CHUNK.DATA;
      return Buffer.from(`${length.toString(16)}\r\n`);
    }
    this.chunkPart = this.chunked ? CHUNK.END : CHUNK.SIZE;
    const piece = first.subarray(this.paidOut, this.paidOut + length);
    this.paidOut += length;
    this.bodyBytes += length;
    if (this.paidOut === first.length) {
      this.held.shift();
      this.paidOut = 0;
    }
    return piece;
  }

  /** The kept head, to be sent before what is held; null once it was taken. */
  takeHead(): Buffer | null {
    const head = this.headPiece;
    this.headPiece = null;
    if (head !== null) this.sent = true;
    return head;
  }

  /** The next of what is held, without framing; null when all was taken. */
  takeHeld(): Buffer | null {
    return this.held.shift() ?? null;
  }

  /** What was held is with the client. */
  endRelease(): void {
    this.releasing = false;
    this.held = [];
    this.heldBytes = 0;
    this.holder?.hold(0);
  }

  finish(): void {
    if (this.chunked) this.writer.text(`0\r\n${this.trailers}\r\n`);
  }

  /** What was gathered, to be sent; null when there is nothing. */
  takePiece(): Buffer | null {
    if (this.writer.length === 0) return null;
    this.sent = true;
    return this.writer.take();
  }

  /** Throws away what was gathered; false when some of the answer has been sent already. */
  takeBack(): boolean {
    if (!this.sent) this.writer.discard();
    return !this.sent;
  }

  /** Throws away what was gathered and not sent. */
  drop(): void {
    this.endRelease();
    this.headPiece = null;
    this.writer.discard();
  }
}
