/**
 * One request to an origin that speaks HTTP/2, in the place of a connection of its own: takes the
 * HTTP/1.1 wire bytes that the engine writes, and hands the answer over as a connection does, with
 * its trailers. Serves no second request and never retries.
 */

import http2, { type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2';
import { upstreamLimits } from '../../base/delivery-limits.ts';
import type { DeadlineHolder, Deadlines } from '../base/deadlines.ts';
import { ChunkedDecoder } from '../http/chunked-decoder.ts';
import type { OriginTimes } from '../contract/request-times.ts';
import { SCAN } from '../http/head-scanner.ts';
import { ResponseHeadParser } from '../http/response-head.ts';
import { answerHead, readOwnHead, trailerLines } from './http2-heads.ts';
import {
  ORIGIN_FAILURE,
  type OriginFailure,
  type OriginLink,
  type OriginSink,
} from './origin-sink.ts';

/** What a request reports to the address that it goes to. */
export interface Http2StreamOwner {
  readonly deadlines: Deadlines;
  readonly scheme: 'http' | 'https';
  requestAnswered(): void;
  requestFailed(failure: OriginFailure): void;
  streamGone(stream: Http2OriginStream): void;
}

/** Fields, flags of the frame, and the fields as names and values in turn. */
type AnswerFacts = [
  fields: http2.IncomingHttpHeaders & { ':status'?: number },
  flags: number,
  raw?: string[],
];

/** One request; see the header. */
export class Http2OriginStream implements OriginLink, DeadlineHolder {
  readonly head = new ResponseHeadParser();
  headBytes: Uint8Array = Buffer.alloc(0);
  websocketKey: string | null = null;
  /** Frames carry them, and gRPC ends with them. */
  keepsTrailers = true;
  readonly upgraded = false;
  deadlineMs: number;
  deadlinePlace = -1;
  /** Among the streams of its session. */
  place = -1;
  private readonly owner: Http2StreamOwner;
  private readonly session: ClientHttp2Session;
  private readonly decoder = new ChunkedDecoder();
  private sink: OriginSink | null;
  private readonly times: OriginTimes;
  private stream: ClientHttp2Stream | null = null;
  private chunked = false;
  private begun = false;
  private interim = 0;
  private gone = false;
  private trailers = '';

  constructor(owner: Http2StreamOwner, session: ClientHttp2Session, sink: OriginSink) {
    this.owner = owner;
    this.session = session;
    this.sink = sink;
    this.times = sink.originTimes;
    this.deadlineMs = owner.deadlines.nowMs + this.times.firstByteTimeoutMs;
    owner.deadlines.add(this);
  }

  /** Sends the head, and content that follows it in `bytes`. */
  writeHead(bytes: Uint8Array): boolean {
    const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    const end = whole.indexOf('\r\n\r\n') + 4;
    const { fields, chunked } = readOwnHead(
      whole.toString('latin1', 0, end - 4),
      this.owner.scheme,
    );
    this.chunked = chunked;
    try {
      this.open(this.session.request(fields, { endStream: false }));
    } catch {
      // The session ended meanwhile, or node refuses a field that may stand once only.
      queueMicrotask(() => this.fail(ORIGIN_FAILURE.closed));
      return true;
    }
    return end < whole.length ? this.write(whole.subarray(end)) : true;
  }

  /** Sends content in the framing that the head announced; it may be overwritten. */
  write(bytes: Uint8Array): boolean {
    let end = bytes.length;
    if (this.chunked) {
      this.decoder.decode(bytes, 0, bytes.length);
      end = this.decoder.dataEnd;
    }
    if (end === 0 || this.stream === null || this.gone) return true;
    if (!this.begun) this.await(this.times.firstByteTimeoutMs);
    return this.stream.write(bytes.subarray(0, end));
  }

  writeCopy(bytes: Uint8Array): boolean {
    return this.write(Buffer.from(bytes));
  }

  endRequest(): void {
    this.stream?.end();
  }

  /** No other request follows on a stream. */
  closeAfterResponse(): void {}

  pauseRead(): void {
    if (this.sink === null) return;
    this.deadlineMs = Infinity;
    this.stream?.pause();
  }

  resumeRead(): void {
    if (this.gone || this.stream === null) return;
    if (this.stream.isPaused()) this.await(this.times.readProgressTimeoutMs);
    this.stream.resume();
  }

  abandon(): void {
    this.sink = null;
    this.leave();
  }

  onDeadline(): void {
    this.fail(this.begun ? ORIGIN_FAILURE.readTimeout : ORIGIN_FAILURE.firstByteTimeout);
  }

  /** Nothing more comes, for a reason of the session's. */
  fail(failure: OriginFailure): void {
    const { sink } = this;
    if (this.gone) return;
    this.sink = null;
    this.leave();
    if (failure !== ORIGIN_FAILURE.stale) this.owner.requestFailed(failure);
    sink?.originFailed(failure);
  }

  private await(ms: number): void {
    this.deadlineMs = this.owner.deadlines.nowMs + ms;
  }

  private open(stream: ClientHttp2Stream): void {
    this.stream = stream;
    stream.on('response', (...[fields, flags, raw]: AnswerFacts) => {
      const ended = (flags & http2.constants.NGHTTP2_FLAG_END_STREAM) !== 0;
      this.onHead(Number(fields[':status']), raw ?? [], ended);
    });
    stream.on('headers', (...[fields, , raw]: AnswerFacts) => {
      this.onInterim(Number(fields[':status']), raw ?? []);
    });
    stream.on('data', (bytes: Buffer) => this.onData(bytes));
    stream.on('trailers', (...[, , raw]: AnswerFacts) => this.onTrailers(raw ?? []));
    stream.on('drain', () => this.sink?.originDrain());
    stream.on('end', () => this.onEnd());
    stream.on('error', () => this.onClosed(stream));
    stream.on('close', () => this.onClosed(stream));
  }

  private onHead(status: number, raw: readonly string[], ended: boolean): void {
    const { sink, head } = this;
    if (sink === null || this.begun) return;
    const bytes = answerHead(status, raw, ended);
    if (bytes === null) return this.fail(ORIGIN_FAILURE.badResponse);
    head.begin(0, false);
    if (head.execute(bytes, bytes.length) !== SCAN.DONE || head.status < 200) {
      return this.fail(ORIGIN_FAILURE.badResponse);
    }
    this.begun = true;
    this.headBytes = bytes;
    this.await(this.times.readProgressTimeoutMs);
    this.owner.requestAnswered();
    sink.originHead(this);
    if (this.sink === sink) sink.originTurnEnd();
  }

  /** An informational answer; node bounds the bytes of each. */
  private onInterim(status: number, raw: readonly string[]): void {
    const { sink, head } = this;
    if (sink === null || this.begun || status === 100) return;
    const bytes = answerHead(status, raw, false);
    head.begin(0, false);
    const odd = bytes === null || head.execute(bytes, bytes.length) !== SCAN.DONE;
    if (odd || ++this.interim > upstreamLimits.interimResponsesMax) {
      return this.fail(ORIGIN_FAILURE.badResponse);
    }
    this.headBytes = bytes;
    sink.originInterim(this);
  }

  private onData(bytes: Buffer): void {
    const { sink } = this;
    if (sink === null) return;
    if (this.deadlineMs !== Infinity) this.await(this.times.readProgressTimeoutMs);
    sink.originBody(bytes, 0, bytes.length);
    if (this.sink === sink) sink.originTurnEnd();
  }

  private onTrailers(raw: readonly string[]): void {
    const lines = trailerLines(raw);
    if (lines === null) this.fail(ORIGIN_FAILURE.badResponse);
    else this.trailers = lines;
  }

  private onEnd(): void {
    const { sink, stream } = this;
    if (sink === null || !this.begun) return;
    // A stream that is reset ends, too; what came of it is not the whole.
    if (stream!.rstCode !== http2.constants.NGHTTP2_NO_ERROR) return this.onClosed(stream!);
    this.sink = null;
    this.leave();
    sink.originEnd(this.trailers);
  }

  private onClosed({ rstCode }: ClientHttp2Stream): void {
    const refused = rstCode === http2.constants.NGHTTP2_REFUSED_STREAM;
    this.fail(refused && !this.begun ? ORIGIN_FAILURE.stale : ORIGIN_FAILURE.closed);
  }

  private leave(): void {
    if (this.gone) return;
    this.gone = true;
    this.deadlineMs = Infinity;
    this.owner.deadlines.remove(this);
    const { stream } = this;
    if (stream !== null && !stream.closed) stream.close(http2.constants.NGHTTP2_CANCEL);
    this.owner.streamGone(this);
  }
}
