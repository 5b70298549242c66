/** The shape of one HTTP/2 server session: bytes in, events out; answers in, bytes out. */
import { addon } from './load-addon.ts';
import type { NativeHttp2Session } from './load-addon.ts';

/** What happened; numbers come in fours: kind, stream, a, b. */
export const HTTP2_EVENT = {
  /** A request head: `a` bytes of `heads()`, `b` is a sum of `HTTP2_HEAD`. */
  HEAD: 1,
  /** Content: `b` bytes from `a` on in what was received. */
  DATA: 2,
  /** The request is complete. */
  END: 3,
  /** The stream is gone; `a` is its error code. */
  CLOSE: 4,
  /** A frame was refused; `a` is the library's error. */
  FAULT: 5,
  /** An answer's queue has room again. */
  DRAINED: 6,
  /** An answer was sent whole while its request is not complete. */
  ANSWERED: 7,
} as const;

/** What is said of a head. */
export const HTTP2_HEAD = { END: 1, TOO_LARGE: 2, ODD_SCHEME: 4, WEBSOCKET: 8 } as const;

/** Error codes of RFC 9113 section 7 that we use. */
export const HTTP2_CODE = {
  NO_ERROR: 0,
  INTERNAL_ERROR: 2,
  CANCEL: 8,
  ENHANCE_YOUR_CALM: 11,
} as const;

/** Bounds of a session, in bytes and counts. */
export interface Http2Settings {
  readonly streamsMax: number;
  readonly headBytesMax: number;
  readonly streamWindowBytes: number;
  readonly connectionWindowBytes: number;
  /** What one answer may have waiting. */
  readonly queueBytesMax: number;
  /** Acknowledgements that wait to be sent before the session ends. */
  readonly outboundAcksMax: number;
}

/** One session; for one thread. Every call after `close` throws code `closed` or does nothing. */
export class Http2Session {
  readonly #native: NativeHttp2Session;

  constructor(settings: Http2Settings) {
    this.#native = new addon.Http2Session(settings);
  }

  /** Reads `length` bytes; 0, or a negative error after which only `close` is of use. */
  receive(bytes: Uint8Array, length: number): number {
    return this.#native.receive(bytes, length);
  }

  /** What happened since the last call, in fours; null when nothing did. */
  events(): Int32Array | null {
    return this.#native.events();
  }

  /** Heads of the `HEAD` events since the last call, one after another. */
  heads(): Uint8Array {
    return this.#native.heads();
  }

  /** Answers with an HTTP/1.1 head in [start, end); `last` says that no content follows. */
  respond(stream: number, bytes: Uint8Array, start: number, end: number, last: boolean): boolean {
    return this.#native.respond(stream, bytes, start, end, last);
  }

  /** Sends content after the head; false until `DRAINED`. The bytes are copied. */
  data(stream: number, bytes: Uint8Array, start: number, end: number, last: boolean): boolean {
    return this.#native.data(stream, bytes, start, end, last);
  }

  /** Lines in [start, end) follow the content as trailers; to be called before its end. */
  trailers(stream: number, bytes: Uint8Array, start: number, end: number): void {
    this.#native.trailers(stream, bytes, start, end);
  }

  /** Writes what is to be sent into `target`; how many bytes, or a negative error. */
  pull(target: Uint8Array): number {
    return this.#native.pull(target);
  }

  /** The request took these bytes: the client may send as many more. */
  consume(stream: number, bytes: number): void {
    this.#native.consume(stream, bytes);
  }

  reset(stream: number, code: number): void {
    this.#native.reset(stream, code);
  }

  /** Takes no new requests. */
  shutdown(): void {
    this.#native.shutdown();
  }

  /** Ends once what waits is pulled. */
  terminate(code: number): void {
    this.#native.terminate(code);
  }

  /** Frames without use since the last call. */
  glitches(): number {
    return this.#native.glitches();
  }

  get finished(): boolean {
    return this.#native.finished();
  }

  close(): void {
    this.#native.close();
  }
}
