/**
 * The origin of the fault soak: raw sockets that do what the request's path says, well or badly,
 * and look whether what arrives is what that request sent.
 */

import net from 'node:net';
import tls from 'node:tls';
import { chunked, contentOf, field, isContentOf, takeMessage } from './soak-wire.ts';
import type { Framing, Random } from './soak-wire.ts';

/** What an origin does well. */
export const goodBehaviors = [
  'length',
  'chunked',
  'close',
  'bytewise',
  'interim',
  'slowread',
  'early',
  'none204',
  'none304',
] as const;
/** What an origin does badly; the client gets an error or a broken answer. */
export const badBehaviors = [
  'refuse',
  'hangup',
  'reset',
  'midclose',
  'midreset',
  'earlyclose',
  'earlyreset',
  'badhead',
  'badchunk',
  'extra',
  'never',
] as const;
/** Either. */
export type Behavior = (typeof goodBehaviors)[number] | (typeof badBehaviors)[number];

/** What the path of a request asks for: `/behavior/id/size`. */
export interface Wish {
  readonly behavior: Behavior;
  readonly id: number;
  readonly size: number;
}

/** A running origin. */
export interface SoakOrigin {
  readonly port: number;
  readonly problems: string[];
  close(): void;
}

const answersEarly = new Set<Behavior>(['early', 'earlyclose', 'earlyreset']);
const bodyless = new Set<Behavior>(['none204', 'none304']);

/** The wish in a request line. */
export function wishOf(head: string): Wish {
  const [, behavior, id, size] = head.split(' ')[1]!.split('/');
  return { behavior: behavior as Behavior, id: Number(id), size: Number(size) };
}

/** Starts an origin; with a certificate it speaks TLS. */
export async function startOrigin(
  random: Random,
  certificate: { key: string; cert: string } | null,
): Promise<SoakOrigin> {
  const sockets = new Set<net.Socket>();
  const problems: string[] = [];
  const serve = (socket: net.Socket): void => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    new OriginSocket(socket, random, problems);
  };
  const server =
    certificate === null
      ? net.createServer({ allowHalfOpen: true, noDelay: true }, serve)
      : tls.createServer({ ...certificate, ALPNProtocols: ['http/1.1'] }, serve);
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = (): void => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  return { port: (server.address() as net.AddressInfo).port, problems, close };
}

function requestFraming(head: string): Framing {
  if (field(head, 'Transfer-Encoding') !== null) return 'chunked';
  return field(head, 'Content-Length') === null ? 'none' : 'length';
}

class OriginSocket {
  private readonly socket: net.Socket;
  private readonly random: Random;
  private readonly problems: string[];
  private received: Buffer[] = [];
  private bytes: Buffer = Buffer.alloc(0);
  private answered = false;

  constructor(socket: net.Socket, random: Random, problems: string[]) {
    this.socket = socket;
    this.random = random;
    this.problems = problems;
    socket.on('error', () => undefined);
    socket.on('end', () => socket.end());
    socket.on('data', (chunk: Buffer) => {
      this.received.push(chunk);
      this.look();
    });
    socket.on('close', () => this.check());
  }

  private look(): void {
    this.bytes = Buffer.concat([this.bytes, ...this.received.splice(0)]);
    for (;;) {
      const taken = this.take();
      if (taken === null) return;
      const wish = wishOf(taken.message.head);
      const early = answersEarly.has(wish.behavior);
      if (early && !this.answered) this.answer(wish, taken.message.head);
      if (wish.behavior === 'refuse' && !this.answered) this.reset();
      if (!taken.message.complete) return this.dawdle(wish);
      this.checkBody(taken.message.head, taken.message.body, true);
      this.bytes = taken.rest;
      if (!early) this.answer(wish, taken.message.head);
      this.answered = false;
    }
  }

  private take(): ReturnType<typeof takeMessage> {
    try {
      return takeMessage(this.bytes, requestFraming, false);
    } catch (thrown) {
      this.problems.push(`origin: ${(thrown as Error).message}`);
      this.socket.destroy();
      return null;
    }
  }

  /** Takes its time over a body. */
  private dawdle({ behavior }: Wish): void {
    if (behavior !== 'slowread' || this.socket.isPaused()) return;
    this.socket.pause();
    setTimeout(() => this.socket.resume(), 1 + this.random.below(12));
  }

  private checkBody(head: string, body: Buffer, complete: boolean): void {
    const { id } = wishOf(head);
    const size = Number(field(head, 'X-Size') ?? '0');
    const own = isContentOf(body, 'q', id) && body.length <= size;
    if (!own || (complete && body.length !== size)) {
      this.problems.push(`origin: request ${id} arrived with other content than it was sent`);
    }
  }

  /** What was there of a request that did not come to its end. */
  private check(): void {
    this.bytes = Buffer.concat([this.bytes, ...this.received.splice(0)]);
    const taken = this.bytes.length > 0 ? this.take() : null;
    if (taken !== null) this.checkBody(taken.message.head, taken.message.body, false);
  }

  private reset(): void {
    if (this.socket instanceof tls.TLSSocket) this.socket.destroy();
    else this.socket.resetAndDestroy();
  }

  private answer(wish: Wish, head: string): void {
    this.answered = true;
    const { socket, random } = this;
    const { behavior, id, size } = wish;
    const content = bodyless.has(behavior) ? Buffer.alloc(0) : contentOf('a', id, size);
    const toHead = head.startsWith('HEAD ');
    const wire = answerWire(behavior, id, content, random);
    const headEnd = wire.indexOf('\r\n\r\n') + 4;
    const whole =
      toHead && headEnd > 3 && behavior !== 'interim' ? wire.subarray(0, headEnd) : wire;
    if (behavior === 'never') return;
    if (behavior === 'hangup') return void socket.end();
    if (behavior === 'reset') return this.reset();
    if (behavior === 'midclose' || behavior === 'midreset') {
      socket.write(whole.subarray(0, Math.max(1, random.below(whole.length))));
      if (behavior === 'midclose') return void socket.end();
      return void setTimeout(() => this.reset(), random.below(4));
    }
    if (behavior === 'bytewise') return this.drip(whole, 0);
    socket.write(whole);
    if (behavior === 'close') return void socket.end();
    if (behavior === 'earlyclose') socket.end();
    if (behavior === 'earlyreset') setTimeout(() => this.reset(), random.below(4));
  }

  private drip(bytes: Buffer, at: number): void {
    if (at >= bytes.length || this.socket.destroyed) return;
    const size = this.random.chance(3) ? 1 : 1 + this.random.below(bytes.length / 4 + 1);
    this.socket.write(bytes.subarray(at, at + size));
    setImmediate(() => this.drip(bytes, at + size));
  }
}

/** The whole of what an origin answers, as far as it does. */
function answerWire(behavior: Behavior, id: number, content: Buffer, random: Random): Buffer {
  const mark = `X-Id: ${id}\r\nContent-Type: text/html\r\nX-Filler: ${'f'.repeat(random.below(200))}\r\n`;
  const length = `Content-Length: ${content.length}\r\n`;
  const ok = `HTTP/1.1 200 OK\r\n${mark}`;
  switch (behavior) {
    case 'none204':
      return Buffer.from(`HTTP/1.1 204 No Content\r\n${mark}\r\n`);
    case 'none304':
      return Buffer.from(`HTTP/1.1 304 Not Modified\r\n${mark}\r\n`);
    case 'close':
      return Buffer.concat([Buffer.from(`${ok}\r\n`), content]);
    case 'badhead':
      return Buffer.from(
        random.one([`HTTP/1.1 2x0 No\r\n\r\n`, `${ok}X : 1\r\n\r\n`, 'no\r\n\r\n']),
      );
    case 'badchunk':
      return Buffer.concat([
        Buffer.from(`${ok}Transfer-Encoding: chunked\r\n\r\n`),
        chunked(content, random, false),
        Buffer.from('0x1\r\nz\r\n'),
      ]);
    case 'extra':
      return Buffer.concat([Buffer.from(`${ok}${length}\r\n`), content, Buffer.from('HTTP/1.1 2')]);
    case 'earlyclose':
      return Buffer.concat([Buffer.from(`${ok}Connection: close\r\n${length}\r\n`), content]);
    default: {
      const interim =
        behavior === 'interim' ? 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 E\r\n\r\n' : '';
      if (behavior === 'chunked' || (behavior === 'bytewise' && random.chance(2))) {
        const head = Buffer.from(`${ok}Transfer-Encoding: chunked\r\n\r\n`);
        return Buffer.concat([head, chunked(content, random)]);
      }
      return Buffer.concat([Buffer.from(`${interim}${ok}${length}\r\n`), content]);
    }
  }
}
