/** The reading of one request body: its framing removed, its size watched. */

import { ChunkedDecoder } from '../../http/chunked-decoder.ts';
import { BODY, SCAN } from '../../http/head-scanner.ts';
import { REFUSAL, type Refusal } from '../../http/refusal.ts';

/** Reads a body piece by piece; see `read`. */
export class BodyReader {
  /** Content of the last piece is [start, dataEnd) of its buffer; what follows begins at `next`. */
  dataEnd = 0;
  next = 0;
  done = false;
  /** Content bytes so far. */
  total = 0;

  private readonly decoder: ChunkedDecoder | null;
  private remaining: number;

  constructor(framing: number, contentLength: number) {
    this.decoder = framing === BODY.CHUNKED ? new ChunkedDecoder() : null;
    this.remaining = contentLength;
  }

  /**
   * Takes bytes [start, end), which it may rewrite; says why the body is refused, or null. Longer
   * than `bytesMax` it is.
   */
  read(bytes: Uint8Array, start: number, end: number, bytesMax: number): Refusal | null {
    if (this.decoder === null) {
      const stop = Math.min(end, start + this.remaining);
      this.remaining -= stop - start;
      this.done = this.remaining === 0;
      this.dataEnd = stop;
      this.next = stop;
    } else {
      const result = this.decoder.decode(bytes, start, end);
      if (result === SCAN.REFUSED) return this.decoder.refusal;
      this.done = result === SCAN.DONE;
      this.dataEnd = this.decoder.dataEnd;
      this.next = this.decoder.consumed;
    }
    this.total += this.dataEnd - start;
    return this.total > bytesMax ? REFUSAL.bodyTooLarge : null;
  }
}
