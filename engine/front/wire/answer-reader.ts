/**
 * Reads an answer back off our own HTTP/1.1 wire bytes, for listeners that have to say the same in
 * other words. Heads come whole and never together with a piece of another answer.
 */

import { ChunkedDecoder } from '../../http/chunked-decoder.ts';
import { BODY, SCAN } from '../../http/head-scanner.ts';
import { ResponseHeadParser } from '../../http/response-head.ts';

/** Reads the pieces of one answer; see `read`. */
export class AnswerReader {
  readonly head = new ResponseHeadParser();
  /** Where the head of the last piece ends; 0 when it held none. */
  headEnd = 0;
  /** Content of the last piece is [start, end). */
  start = 0;
  end = 0;
  /** Trailer lines of a finished answer are [trailerStart, trailerEnd) of the last piece. */
  trailerStart = 0;
  trailerEnd = 0;
  /** True once the answer is complete. */
  done = false;

  /** Whether an answer of 101 opens a WebSocket, whose bytes are content without an end. */
  opens = false;
  /** True once it did. */
  open = false;

  private readonly decoder = new ChunkedDecoder();
  private begun = false;
  private left = 0;

  /** Forgets the last answer; `opens` is for the next one. */
  reset(opens: boolean): void {
    this.opens = opens;
    this.open = false;
    this.trailerStart = 0;
    this.trailerEnd = 0;
    this.done = false;
    this.begun = false;
    this.left = 0;
    this.decoder.reset();
  }

  /** Takes the next piece, whose chunk framing it may overwrite. `toHead`: the request was HEAD. */
  read(bytes: Buffer, toHead: boolean): void {
    this.headEnd = 0;
    this.start = 0;
    this.end = 0;
    let at = 0;
    if (this.open) {
      this.end = bytes.length;
      return;
    }
    if (!this.begun) {
      this.head.begin(0, toHead);
      this.head.execute(bytes, bytes.length);
      this.headEnd = this.head.headEnd;
      if (this.opens && this.head.status === 101) {
        this.open = true;
        this.start = this.headEnd;
        this.end = bytes.length;
        return;
      }
      if (this.head.status < 200) return;
      this.begun = true;
      at = this.headEnd;
      this.left = this.head.contentLength;
      if (this.head.framing === BODY.NONE) {
        this.done = true;
        return;
      }
    }
    this.start = at;
    this.end = bytes.length;
    if (this.head.framing === BODY.CHUNKED) {
      this.done = this.decoder.decode(bytes, at, bytes.length) === SCAN.DONE;
      this.end = this.decoder.dataEnd;
      if (this.done) this.findTrailers();
    } else {
      this.left -= this.end - this.start;
      this.done = this.left === 0;
    }
  }

  /** The last chunk and all trailers leave in one piece. */
  private findTrailers(): void {
    this.trailerEnd = this.decoder.consumed - 2;
    this.trailerStart = this.decoder.consumed - this.decoder.trailerLength;
  }
}
