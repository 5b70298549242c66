/**
 * Compresses the content of one answer. The work is done by zlib's threads, so that no front thread
 * waits for it; coded bytes come in order, in turns of the event loop of their own. How many run at
 * one time is bounded: an answer that finds no room is sent as it is.
 */

import zlib from 'node:zlib';
import { compressionLimits } from '../../../base/delivery-limits.ts';

/** Who gets what was coded. */
export interface CodedSink {
  /** Bytes to be sent. */
  coded(piece: Buffer): void;
  /** All of it was coded, and nothing follows. */
  codedAll(): void;
  /** More is taken, after `write` said that it was enough. */
  coderDrained(): void;
  /** The rest cannot be coded. */
  coderFailed(): void;
}

/** Coders that this thread runs. */
let running = 0;

/** True while another answer may be compressed. */
export function coderFree(): boolean {
  return running < compressionLimits.runningMax;
}

/** See the header. */
export class AnswerCoder {
  private readonly stream: zlib.Gzip | zlib.BrotliCompress;
  private readonly flushKind: number;
  private unflushed = false;
  private counted = true;

  constructor(coding: 'br' | 'gzip', sink: CodedSink) {
    running++;
    const { constants } = zlib;
    this.flushKind = coding === 'br' ? constants.BROTLI_OPERATION_FLUSH : constants.Z_SYNC_FLUSH;
    this.stream =
      coding === 'br'
        ? zlib.createBrotliCompress({
            params: {
              [constants.BROTLI_PARAM_QUALITY]: compressionLimits.brotliQuality,
              [constants.BROTLI_PARAM_LGWIN]: compressionLimits.brotliWindowBits,
            },
          })
        : zlib.createGzip({ level: compressionLimits.gzipLevel });
    this.stream.on('data', (piece: Buffer) => sink.coded(piece));
    this.stream.on('end', () => {
      this.destroy();
      sink.codedAll();
    });
    this.stream.on('drain', () => sink.coderDrained());
    this.stream.on('error', () => {
      this.destroy();
      sink.coderFailed();
    });
  }

  /** Takes a copy; false when that is enough until `coderDrained`. */
  write(bytes: Uint8Array, start: number, end: number): boolean {
    if (start === end) return !this.stream.writableNeedDrain;
    this.unflushed = true;
    return this.stream.write(Buffer.from(bytes.subarray(start, end)));
  }

  /** What was written is to be sent without waiting for more. */
  flush(): void {
    if (!this.unflushed) return;
    this.unflushed = false;
    this.stream.flush(this.flushKind);
  }

  /** Nothing more is written. */
  end(): void {
    this.stream.end();
  }

  /** The client takes no more for now. */
  pause(): void {
    this.stream.pause();
  }

  resume(): void {
    this.stream.resume();
  }

  /** True until `coderDrained`. */
  get full(): boolean {
    return this.stream.writableNeedDrain;
  }

  /** Nothing of it is reported from here on. */
  destroy(): void {
    if (!this.counted) return;
    this.counted = false;
    running--;
    this.stream.removeAllListeners('data');
    this.stream.destroy();
  }
}
