/**
 * One client of a listener that takes PROXY headers, until its header is complete: who is not done
 * in time, or sends something else, is closed. Knows nothing of what follows the header.
 */

import type net from 'node:net';
import type { DeadlineHolder, Deadlines } from '../../base/deadlines.ts';
import { readProxyHeader, type NamedEnds } from '../wire/proxy-header.ts';

/** Who hears how it ended; exactly one of the two is called, once. */
export interface IntroOwner {
  /** The header is read; `rest` followed it. */
  introduced(intro: ProxyIntro, ends: NamedEnds | null, rest: Buffer): void;
  notIntroduced(intro: ProxyIntro): void;
}

/** One client; see the header. */
export class ProxyIntro implements DeadlineHolder {
  deadlineMs: number;
  deadlinePlace = -1;
  /** Among those of its listener. */
  place = -1;
  private readonly deadlines: Deadlines;
  private readonly socket: net.Socket;
  private readonly owner: IntroOwner;
  private received: Buffer = Buffer.alloc(0);
  private done = false;

  constructor(deadlines: Deadlines, socket: net.Socket, timeoutMs: number, owner: IntroOwner) {
    this.deadlines = deadlines;
    this.socket = socket;
    this.owner = owner;
    this.deadlineMs = deadlines.nowMs + timeoutMs;
    deadlines.add(this);
    for (const event of ['error', 'end', 'close']) socket.on(event, () => this.destroy());
  }

  /** Takes the first `count` bytes of `buffer`, which is read into again after this call. */
  onRead(buffer: Buffer, count: number): void {
    if (this.done) return;
    this.received = Buffer.concat([this.received, buffer.subarray(0, count)]);
    const found = readProxyHeader(this.received);
    if (found.kind === 'malformed') return this.destroy();
    if (found.kind === 'more') return;
    this.settle();
    this.owner.introduced(this, found.ends, this.received.subarray(found.length));
  }

  onDeadline(): void {
    this.destroy();
  }

  /** Closes at once. */
  destroy(): void {
    if (this.done) return;
    this.settle();
    this.socket.destroy();
    this.owner.notIntroduced(this);
  }

  private settle(): void {
    this.done = true;
    this.deadlineMs = Infinity;
    this.deadlines.remove(this);
  }
}
