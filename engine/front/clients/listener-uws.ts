/**
 * The listener on uWebSockets.js, for deployments whose clients all speak plain HTTP/1.1, such as
 * another proxy in front. Its requests run through the same exchange as the strict listener's: the
 * head is written out again and parsed by our own parser, the answer is read back off our own wire
 * bytes. What the library decides by itself is out of our hands, and out of our records: it answers
 * HTTP/1.0 with 505, refuses absolute-form and `OPTIONS *`, stalls on field names with `_` or `.`,
 * drops field bytes that are not UTF-8, takes heads of 4 KiB (UWS_HTTP_MAX_HEADERS_SIZE), cuts
 * pipelined requests off, and keeps its own idle timeout. An echo costs as much CPU in it as on a
 * plain socket, so there is no speed to gain; the strict listener is the default.
 */

import { setTimeout } from 'node:timers/promises';
import type { HttpRequest, HttpResponse, TemplatedApp, us_listen_socket } from 'uWebSockets.js';
import type { DeadlineHolder } from '../../base/deadlines.ts';
import { Places } from '../../base/places.ts';
import { AppError } from '../../../base/errors.ts';
import { SPAN, type ConnectionFacts } from '../../contract/message.ts';
import type { ClientTimes } from '../../contract/request-times.ts';
import { ChunkedDecoder } from '../../http/chunked-decoder.ts';
import { BODY, KIND_MASK, SCAN } from '../../http/head-scanner.ts';
import type { RequestHeadParser } from '../../http/request-head.ts';
import { routingHost } from '../../http/routing-host.ts';
import type { ResponseHeadParser } from '../../http/response-head.ts';
import { FIELD } from '../../http/tables.ts';
import type { ClientPort } from '../client-port.ts';
import { Exchange } from '../request/exchange.ts';
import type { FrontContext } from '../front-context.ts';
import type { Readers } from '../wire/spare-readers.ts';
import type { ListenAddress, Listener } from '../listener.ts';

/** Serves `context` through uWebSockets.js; the library is loaded when the listener opens. */
export class UwsListener implements Listener {
  private readonly context: FrontContext;
  private app: TemplatedApp | null = null;
  private socket: us_listen_socket | null = null;
  private closeSocket: (socket: us_listen_socket) => void = () => undefined;
  private readonly clients = new Places<UwsClient>();
  private whenEmpty: (() => void) | null = null;

  constructor(context: FrontContext) {
    this.context = context;
  }

  get connections(): number {
    return this.clients.size;
  }

  async open(address: ListenAddress): Promise<number> {
    if (address.secure === true) {
      const text = 'TLS needs the listener strict: leave --listener out';
      throw new AppError('bad_option', text, { source: 'config' });
    }
    if ((address.proxyHeaderFrom ?? []).length > 0) {
      const text = 'PROXY headers need the listener strict: leave --listener out';
      throw new AppError('bad_option', text, { source: 'config' });
    }
    const { default: uws } = await import('uWebSockets.js');
    this.closeSocket = uws.us_listen_socket_close;
    this.app = uws.App().any('/*', (response, request) => this.accept(response, request, address));
    return new Promise((resolve, reject) => {
      this.app!.listen(address.host, address.port, (socket) => {
        if (socket === false) {
          const text = `cannot listen on ${address.host}:${address.port}`;
          return reject(new AppError('listen_failed', text, { source: 'config', retryable: true }));
        }
        this.socket = socket;
        resolve(uws.us_socket_local_port(socket));
      });
    });
  }

  private accept(response: HttpResponse, request: HttpRequest, address: ListenAddress): void {
    const client = new UwsClient(this.context, response, request, address, (gone) => {
      this.clients.remove(gone.place, gone);
      if (this.clients.size === 0) this.whenEmpty?.();
    });
    client.place = this.clients.add(client);
    client.begin();
  }

  /** Connections without a request are not known here: all get a moment for their next one. */
  async drain(): Promise<void> {
    this.stopAccepting();
    await setTimeout(this.context.settings.drainIdleMs);
    if (this.clients.size === 0) return;
    await new Promise<void>((resolve) => (this.whenEmpty = resolve));
  }

  close(): void {
    this.stopAccepting();
    this.app?.close();
    this.app = null;
  }

  private stopAccepting(): void {
    if (this.socket !== null) this.closeSocket(this.socket);
    this.socket = null;
  }
}

/** The wire bytes of a head that the library has taken apart. */
function headBytes(request: HttpRequest): Buffer {
  const query = request.getQuery();
  const target = query === undefined || query === '' ? '' : `?${query}`;
  let head = `${request.getCaseSensitiveMethod()} ${request.getUrl()}${target} HTTP/1.1\r\n`;
  request.forEach((name, value) => (head += `${name}: ${value}\r\n`));
  return Buffer.from(`${head}\r\n`, 'utf8');
}

function addressText(raw: ArrayBuffer): string {
  const text = Buffer.from(raw).toString('latin1');
  return text.startsWith('0000:0000:0000:0000:0000:ffff:') ? mappedAddress(text) : text;
}

/** `…:ffff:7f00:0001` as 127.0.0.1. */
function mappedAddress(text: string): string {
  const digits = text.slice(-9).replace(':', '');
  return [0, 2, 4, 6].map((at) => Number.parseInt(digits.slice(at, at + 2), 16)).join('.');
}

/** One request of the library, seen as a client. */
class UwsClient implements ClientPort, DeadlineHolder {
  deadlineMs: number;
  deadlinePlace = -1;
  /** Among the clients of its listener. */
  place = -1;
  readonly parser: RequestHeadParser;
  readonly facts: ConnectionFacts;
  readonly forwardedLines: string;
  /** This listener does not speak TLS. */
  readonly tls = null;

  private readonly context: FrontContext;
  private readonly response: HttpResponse;
  private readonly bytes: Buffer;
  private readonly onGone: (client: UwsClient) => void;
  private readonly exchange: Exchange;
  private readonly headResult: number;
  private totalDeadlineMs: number;
  private times: ClientTimes;
  private readonly readers: Readers;
  private readonly answer: ResponseHeadParser;
  private readonly decoder = new ChunkedDecoder();
  private answerBegun = false;
  private answered = false;
  private gone = false;
  private ended = false;
  private paused = false;
  private received: Buffer[] = [];
  private unsent: Buffer | null = null;
  private unsentAt = 0;

  constructor(
    context: FrontContext,
    response: HttpResponse,
    request: HttpRequest,
    address: ListenAddress,
    onGone: (client: UwsClient) => void,
  ) {
    this.context = context;
    this.response = response;
    this.onGone = onGone;
    this.bytes = headBytes(request);
    this.readers = context.readers.take(false, false);
    this.parser = this.readers.parser;
    this.answer = this.readers.answer.head;
    const peerIp = addressText(response.getRemoteAddressAsText());
    this.facts = {
      clientIp: peerIp,
      // The library does not tell it.
      clientPort: 0,
      peerIp,
      serverIp: address.host,
      serverPort: address.port,
      scheme: 'http',
    };
    this.forwardedLines = `X-Forwarded-For: ${peerIp}\r\nX-Forwarded-Proto: http\r\n`;
    this.headResult = this.parser.execute(this.bytes, this.bytes.length);
    this.exchange = new Exchange(context, this, this.bytes, context.clock.monotonicUs());
    this.times = context.settings;
    this.totalDeadlineMs = context.deadlines.nowMs + this.times.requestTotalTimeoutMs;
    this.deadlineMs = this.totalDeadlineMs;
    context.deadlines.add(this);
  }

  begin(): void {
    this.response.onAborted(() => this.aborted());
    if (this.headResult !== SCAN.DONE) {
      const { refusal } = this.parser;
      return this.exchange.refuse(refusal?.status ?? 400, refusal?.reason ?? 'head');
    }
    if (this.parser.framing !== BODY.NONE) {
      this.response.onData((chunk, isLast) => this.onData(chunk, isLast));
    }
    this.exchange.start();
  }

  host(): string {
    const { hostStart, hostEnd } = this.parser;
    return routingHost(this.bytes.toString('latin1', hostStart, hostEnd));
  }

  onDeadline(nowMs: number): void {
    if (this.ended) return this.destroy();
    if (nowMs < this.totalDeadlineMs && this.exchange.wantsBody) this.exchange.bodyTimedOut();
    else if (nowMs < this.totalDeadlineMs) this.deadlineMs = this.totalDeadlineMs;
    else this.exchange.timedOut(false);
  }

  limitTimes(times: ClientTimes): void {
    this.times = times;
    this.totalDeadlineMs = this.context.deadlines.nowMs + times.requestTotalTimeoutMs;
    this.deadlineMs = this.totalDeadlineMs;
  }

  bodyWanted(wanted: boolean): void {
    if (this.gone || this.ended || this.answered) return;
    const progressMs = this.context.deadlines.nowMs + this.times.bodyProgressTimeoutMs;
    this.deadlineMs = wanted ? Math.min(progressMs, this.totalDeadlineMs) : this.totalDeadlineMs;
    while (wanted && this.received.length > 0 && this.exchange.wantsBody) {
      const piece = this.received.shift()!;
      this.exchange.readBody(piece, 0, piece.length);
      this.exchange.acceptBody(piece, 0);
    }
    if (wanted && !this.ended && this.exchange.wantsBody) this.unpause();
  }

  private unpause(): void {
    if (!this.paused) return;
    this.paused = false;
    this.response.resume();
  }

  /** The library has taken chunks apart: they are put together again for the one body reader. */
  private onData(chunk: ArrayBuffer, isLast: boolean): void {
    const content = Buffer.from(new Uint8Array(chunk));
    if (this.parser.framing === BODY.CHUNKED) {
      const size = Buffer.from(`${content.length.toString(16)}\r\n`);
      const end = Buffer.from(isLast ? '\r\n0\r\n\r\n' : '\r\n');
      if (content.length > 0) this.received.push(Buffer.concat([size, content, end]));
      else if (isLast) this.received.push(Buffer.from('0\r\n\r\n'));
    } else if (content.length > 0) this.received.push(content);
    if (isLast) this.unpause();
    if (this.ended || this.answered) return;
    if (!isLast && !this.paused && !this.exchange.wantsBody) {
      this.paused = true;
      this.response.pause();
    }
    if (this.exchange.wantsBody) this.bodyWanted(true);
  }

  send(bytes: Uint8Array): boolean {
    if (this.gone || this.answered) return true;
    let free = true;
    this.response.cork(() => (free = this.relay(Buffer.from(bytes))));
    return free;
  }

  /** Reads our own wire bytes and says the same to the library. */
  private relay(bytes: Buffer): boolean {
    let start = 0;
    if (!this.answerBegun) {
      this.answer.begin(0, this.parser.isHead);
      this.answer.execute(bytes, bytes.length);
      // The library has answered Expect by itself.
      if (this.answer.status < 200) return true;
      this.answerBegun = true;
      this.writeHead(bytes);
      start = this.answer.headEnd;
      if (this.answer.framing === BODY.NONE) return this.endWithoutBody();
    }
    if (this.answer.framing !== BODY.CHUNKED) return this.sendPiece(bytes.subarray(start));
    const done = this.decoder.decode(bytes, start, bytes.length) === SCAN.DONE;
    const content = bytes.subarray(start, this.decoder.dataEnd);
    if (done) {
      this.finish();
      this.response.end(content, this.answer.connectionClose);
      return true;
    }
    return content.length === 0 || this.write(content);
  }

  private writeHead(bytes: Buffer): void {
    const { answer, response } = this;
    const text = (at: number): string =>
      bytes.toString('latin1', answer.spans[at], answer.spans[at + 1]);
    response.writeStatus(`${text(SPAN.firstStart)} ${text(SPAN.secondStart)}`);
    for (let i = 0; i < answer.fieldCount; i++) {
      const kind = answer.kinds[i]! & KIND_MASK;
      const framing = kind === FIELD.CONTENT_LENGTH || kind === FIELD.TRANSFER_ENCODING;
      // The library writes a Date of its own.
      if (framing || kind === FIELD.CONNECTION || kind === FIELD.DATE) continue;
      const at = SPAN.fields + 4 * i;
      response.writeHeader(text(at), bytes.subarray(answer.spans[at + 2]!, answer.spans[at + 3]!));
    }
  }

  private endWithoutBody(): boolean {
    const { contentLength, status } = this.answer;
    this.finish();
    // The library loses its place on the connection when it is given the length of a body that it
    // does not send (HEAD, 304); as a plain field it does no harm.
    if (status !== 204 && contentLength >= 0) {
      this.response.writeHeader('Content-Length', String(contentLength));
    }
    this.response.endWithoutBody();
    return true;
  }

  private write(content: Buffer): boolean {
    const free = this.response.write(content);
    if (!free) {
      this.response.onWritable(() => {
        this.exchange.clientDrained();
        return true;
      });
    }
    return free;
  }

  /** A piece of a body whose length is known; the library may take only a part of it. */
  private sendPiece(piece: Buffer): boolean {
    if (this.unsent !== null) {
      this.unsent = Buffer.concat([this.unsent, piece]);
      return false;
    }
    if (piece.length === 0) return true;
    if (this.answer.connectionClose && piece.length === this.answer.contentLength) {
      // All answers of our own are such: what we refuse ends its connection, but for requests that
      // the library has read together with it.
      this.finish();
      this.response.end(piece, true);
      return true;
    }
    const before = this.response.getWriteOffset();
    const [free, done] = this.response.tryEnd(piece, this.answer.contentLength);
    if (done) this.finish();
    if (done || free) return true;
    this.unsent = piece;
    this.unsentAt = before;
    this.response.onWritable((offset) => this.onWritable(offset));
    return false;
  }

  private onWritable(offset: number): boolean {
    const rest = this.unsent!.subarray(offset - this.unsentAt);
    const [free, done] = this.response.tryEnd(rest, this.answer.contentLength);
    if (done) this.finish();
    else if (!free) {
      this.unsent = rest;
      this.unsentAt = offset;
      return false;
    }
    this.unsent = null;
    if (!done) this.exchange.clientDrained();
    return true;
  }

  private finish(): void {
    // A connection left paused would never read its next request.
    this.unpause();
    this.answered = true;
    if (this.ended) this.leave();
  }

  /** Heads of this listener open none. */
  tunnelOpened(): void {
    this.destroy();
  }

  exchangeEnded(): void {
    this.ended = true;
    if (!this.answerBegun) this.destroy();
    else if (this.answered) this.leave();
  }

  destroy(): void {
    if (this.gone) return;
    if (!this.answered) this.response.close();
    this.leave();
  }

  private aborted(): void {
    this.answered = true;
    if (!this.ended) this.exchange.clientGone();
    this.leave();
  }

  private leave(): void {
    if (this.gone) return;
    this.gone = true;
    this.deadlineMs = Infinity;
    this.context.deadlines.remove(this);
    this.received = [];
    if (this.ended) this.context.readers.give(this.readers);
    this.onGone(this);
  }
}
