/** The types of Buffer methods that Node documents nowhere but has had since version 0.12. */

declare global {
  interface Buffer<TArrayBuffer extends ArrayBufferLike = ArrayBufferLike> {
    /** Bytes [start, end) as a one-byte string; several times faster than `toString('latin1')`. */
    latin1Slice(start?: number, end?: number): string;
    /** Bytes [start, end) read as UTF-8; faster than `toString('utf8')`. */
    utf8Slice(start?: number, end?: number): string;
    /** Writes a one-byte string; returns the bytes written. */
    latin1Write(text: string, offset?: number, length?: number): number;
  }
}

export {};
