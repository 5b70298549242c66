/**
 * One client connection of the fault soak: a few random requests, sent well or badly, and a look at
 * everything that came back.
 */

import net from 'node:net';
import { badBehaviors, goodBehaviors } from './soak-origin.ts';
import type { Behavior } from './soak-origin.ts';
import { chunked, contentOf, field, isContentOf, Random, takeMessage } from './soak-wire.ts';
import type { Framing, ReadMessage } from './soak-wire.ts';

const faults = [
  'none',
  'none',
  'bytewise',
  'slowread',
  'halfclose',
  'abort',
  'reset',
  'end',
  'stall',
  'abortread',
] as const;
type Fault = (typeof faults)[number];
/** With these a client does nothing wrong: it gets all answers. */
const faultless = new Set<Fault>(['none', 'bytewise', 'slowread', 'halfclose']);

interface SoakRequest {
  readonly id: number;
  readonly behavior: Behavior;
  readonly isHead: boolean;
  readonly answerSize: number;
  readonly head: Buffer;
  readonly body: Buffer;
  readonly waits: boolean;
}

/** What one connection did and saw. */
export interface ClientReport {
  readonly fault: Fault;
  readonly behaviors: readonly Behavior[];
  /** Ids of requests that must have ended in exactly one event. */
  readonly owed: readonly number[];
  readonly answers: number;
  /** What went wrong, and the id of the request at which it did. */
  readonly problem: string | null;
  readonly problemAt: number;
}

const sizes = [0, 0, 1, 300, 5_000, 20_000, 70_000, 300_000];

/** The id under which the event of a request is found. */
export function requestIdOf(id: number): string {
  return `soak-${String(id).padStart(8, '0')}`;
}

/** Runs one connection to its end. `firstId` and the ids after it are its own. */
export function runClient(port: number, seed: number, firstId: number): Promise<ClientReport> {
  return new SoakClient(port, new Random(seed), firstId).done;
}

function randomRequest(random: Random, id: number, last: boolean): SoakRequest {
  const behavior = random.chance(3) ? random.one(badBehaviors) : random.one(goodBehaviors);
  const method = random.one(['GET', 'POST', 'POST', 'PUT', 'HEAD']);
  const withBody = method === 'POST' || method === 'PUT';
  const content = contentOf('q', id, withBody ? random.one(sizes) : 0);
  const inChunks = withBody && random.chance(2);
  const waits = content.length > 0 && random.chance(5);
  const answerSize = random.one(sizes);
  const lines = [
    `${method} /${behavior}/${id}/${answerSize} HTTP/1.1`,
    'Host: soak.example',
    `X-Request-Id: ${requestIdOf(id)}`,
    `X-Size: ${content.length}`,
  ];
  if (inChunks) lines.push('Transfer-Encoding: chunked');
  else if (withBody) lines.push(`Content-Length: ${content.length}`);
  if (waits) lines.push('Expect: 100-continue');
  if (last && random.chance(3)) lines.push('Connection: close');
  const body = inChunks ? chunked(content, random) : content;
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`);
  return { id, behavior, isHead: method === 'HEAD', answerSize, head, body, waits };
}

class SoakClient {
  readonly done: Promise<ClientReport>;
  private readonly random: Random;
  private readonly socket: net.Socket;
  private readonly fault: Fault;
  private readonly pipelined: boolean;
  private readonly requests: SoakRequest[];
  private received: Buffer = Buffer.alloc(0);
  private next = 0;
  private sentBody = -1;
  private answers = 0;
  private problem: string | null = null;
  private closed = false;
  /** The last answer was to a request that did not come whole. */
  private halfSent = false;
  private cut = false;
  /** Bytes after which the fault comes. */
  private readonly faultAt: number;
  private sent = 0;
  private finish!: (report: ClientReport) => void;
  private sending: Promise<void> = Promise.resolve();
  private readonly patience: NodeJS.Timeout;

  constructor(port: number, random: Random, firstId: number) {
    this.random = random;
    this.fault = random.one(faults);
    this.pipelined = random.chance(3);
    const count = 1 + random.below(4);
    this.requests = Array.from({ length: count }, (_, i) =>
      randomRequest(random, firstId + i, i === count - 1),
    );
    const total = this.requests.reduce((sum, { head, body }) => sum + head.length + body.length, 0);
    const fails = ['abort', 'reset', 'end', 'stall'].includes(this.fault);
    this.faultAt = fails ? random.below(total) : Infinity;
    this.done = new Promise((resolve) => (this.finish = resolve));
    this.patience = setTimeout(() => this.fail('hangs'), 60_000);
    this.socket = net.connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
    this.socket.on('error', () => undefined);
    this.socket.on('data', (chunk: Buffer) => this.onData(chunk));
    this.socket.on('end', () => this.onClosed());
    this.socket.on('close', () => this.onClosed());
    this.begin();
  }

  private begin(): void {
    if (this.pipelined) {
      for (const { head, body } of this.requests) this.send(Buffer.concat([head, body]));
      if (this.fault === 'halfclose') this.halfClose();
      this.next = this.requests.length;
      this.sentBody = Infinity;
    } else this.sendNext();
  }

  private sendNext(): void {
    const request = this.requests[this.next++];
    if (request === undefined) return;
    this.send(request.head);
    if (request.waits && this.random.chance(2)) setTimeout(() => this.sendBody(request), 60);
    else this.sendBody(request);
    const last = this.next === this.requests.length;
    if (last && this.fault === 'halfclose' && this.sentBody === request.id) this.halfClose();
  }

  private sendBody({ id, body }: SoakRequest): void {
    if (this.sentBody >= id) return;
    this.sentBody = id;
    this.send(body);
  }

  private halfClose(): void {
    this.sending = this.sending.then(() => void this.socket.end());
  }

  private send(bytes: Buffer): void {
    this.sending = this.sending.then(() => this.sendSlowly(bytes));
  }

  private async sendSlowly(bytes: Buffer): Promise<void> {
    for (let at = 0; at < bytes.length && !this.closed && !this.cut;) {
      const bytewise = this.fault === 'bytewise';
      const size = bytewise ? 1 + this.random.below(at < 100 ? 3 : 30_000) : bytes.length;
      const stop = Math.min(bytes.length, at + size, at + this.faultAt - this.sent);
      this.socket.write(bytes.subarray(at, stop));
      this.sent += stop - at;
      at = stop;
      if (this.sent >= this.faultAt) return this.misbehave();
      if (bytewise) await new Promise((resolve) => setImmediate(resolve));
    }
  }

  private misbehave(): void {
    this.cut = true;
    if (this.fault === 'stall') return;
    const act = (): void => {
      if (this.fault === 'abort') this.socket.destroy();
      else if (this.fault === 'reset') this.socket.resetAndDestroy();
      else this.socket.end();
    };
    if (this.random.chance(2)) act();
    else setTimeout(act, this.random.below(10));
  }

  private onData(chunk: Buffer): void {
    this.received = Buffer.concat([this.received, chunk]);
    if (this.fault === 'abortread' && this.random.chance(2)) {
      this.cut = true;
      if (this.random.chance(2)) this.socket.destroy();
      else this.socket.resetAndDestroy();
      return;
    }
    if (this.fault === 'slowread') {
      this.socket.pause();
      setTimeout(() => this.socket.resume(), this.random.below(15));
    }
    this.look();
  }

  private onClosed(): void {
    if (this.closed) return;
    this.closed = true;
    this.look();
    this.end();
  }

  private look(): void {
    while (this.problem === null && this.received.length > 0) {
      const request = this.requests[this.answers];
      if (request === undefined) return this.fail('got bytes after its last answer');
      const taken = takeMessage(this.received, (head) => framingOf(head, request), this.closed);
      if (taken === null) return;
      const { message } = taken;
      if (/^HTTP\/1\.1 1\d\d /.test(message.head)) {
        this.received = taken.rest;
        this.sendBody(request);
        continue;
      }
      this.halfSent = this.cut && isOwnRefusal(message);
      const wrong = this.halfSent ? null : faultOf(message, request, this.fault);
      if (wrong !== null) return this.fail(wrong);
      if (!message.complete) return;
      this.received = taken.rest;
      this.answers++;
      if (this.answers === this.requests.length) return this.end();
      if (!this.pipelined) this.sendNext();
    }
  }

  private fail(problem: string): void {
    this.problem ??= `${problem} (${this.describe()})`;
    this.end();
  }

  private describe(): string {
    const list = this.requests.map(({ id, behavior, body, answerSize, isHead, head }) => {
      const kind = /chunked/.test(head.toString()) ? 'chunked' : 'length';
      return `${id} ${isHead ? 'HEAD ' : ''}${behavior} ${kind} ${body.length}->${answerSize}`;
    });
    const mode = this.pipelined ? 'pipelined' : 'in turn';
    return `${this.fault}, ${mode}: ${list.join(', ')}; ${this.answers} answered`;
  }

  private end(): void {
    clearTimeout(this.patience);
    if (this.fault !== 'halfclose' || this.problem !== null || this.closed) this.socket.destroy();
    else this.socket.resume().end();
    this.closed = true;
    this.problem ??= this.owedAnswer();
    this.finish({
      fault: this.fault,
      behaviors: this.requests.map(({ behavior }) => behavior),
      owed: this.owed(),
      answers: this.answers,
      problem: this.problem,
      problemAt: this.requests[this.answers]?.id ?? 0,
    });
  }

  /** What should have been answered, and was not. */
  private owedAnswer(): string | null {
    const request = this.requests[this.answers];
    if (request === undefined || !faultless.has(this.fault)) return null;
    if (this.answers > 0) return null;
    return isGood(request) ? `got no whole answer (${this.describe()})` : null;
  }

  private owed(): number[] {
    const certain = faultless.has(this.fault) ? Math.max(1, this.answers) : this.answers;
    const ids = this.requests.slice(0, certain).map(({ id }) => id);
    return this.halfSent ? ids.slice(0, -1) : ids;
  }
}

function isGood({ behavior }: SoakRequest): boolean {
  return (goodBehaviors as readonly string[]).includes(behavior);
}

function framingOf(head: string, request: SoakRequest): Framing {
  const status = Number(head.slice(9, 12));
  if (status < 200 || status === 204 || status === 304 || request.isHead) return 'none';
  if (field(head, 'Transfer-Encoding') !== null) return 'chunked';
  return field(head, 'Content-Length') === null ? 'close' : 'length';
}

/** True for an answer of the proxy that says that the request is at fault. */
function isOwnRefusal({ head }: ReadMessage): boolean {
  return field(head, 'X-Id') === null && head.startsWith('HTTP/1.1 4');
}

/** What is wrong with an answer. */
function faultOf(
  { head, body, complete }: ReadMessage,
  request: SoakRequest,
  fault: Fault,
): string | null {
  const id = field(head, 'X-Id');
  if (field(head, 'X-Request-Id') !== requestIdOf(request.id)) return 'got the answer to another';
  if (id === null) {
    // A connection that an origin closed after a response fails a request with content.
    const once = request.body.length > 0 || request.head.toString().startsWith('POST');
    const broken = once && head.startsWith('HTTP/1.1 502');
    const bad = broken || (!isGood(request) && head.startsWith('HTTP/1.1 5'));
    return bad || !faultless.has(fault) ? null : `got ${head.slice(0, 40)}`;
  }
  if (Number(id) !== request.id) return 'got the answer of another';
  if (!isContentOf(body, 'a', request.id)) return 'got other content';
  const bodyless = /^HTTP\/1\.1 (204|304)/.test(head) || request.isHead;
  const size = bodyless ? 0 : request.answerSize;
  if (body.length > size || (complete && body.length !== size)) {
    return request.behavior.startsWith('mid') || request.behavior === 'badchunk'
      ? null
      : `got ${body.length} of ${size} bytes as if they were all`;
  }
  return null;
}
