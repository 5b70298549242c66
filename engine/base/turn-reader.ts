/**
 * How much of a turn of the event loop the bytes of one socket take: libuv reads a socket on as
 * long as it fills the buffer, 2 MB at once, and hundreds of large bodies would make one turn of a
 * second. A socket that brought its share stands in line, and each turn reads on a few of those.
 */

import { turnLimits } from '../../base/delivery-limits.ts';

/** What a turn reader needs of a socket; `net.Socket` and `tls.TLSSocket` have it. */
export interface ReadSocket {
  readonly destroyed: boolean;
  pause(): unknown;
  resume(): unknown;
}

/** The turn that runs on this thread, and who stands in line. */
const turn = { number: 0, open: false, line: [] as TurnReader[] };

/** Decides when one socket is read; only through it is the socket paused and resumed. */
export class TurnReader {
  private readonly socket: ReadSocket;
  /** Bytes of one turn where no other socket stands in line. */
  private readonly aloneBytesMax: number;
  private paused = false;
  private waiting = false;
  private turn = -1;
  private bytes = 0;

  constructor(socket: ReadSocket, aloneBytesMax: number = turnLimits.aloneReadBytesMax) {
    this.socket = socket;
    this.aloneBytesMax = aloneBytesMax;
  }

  /** A read brought `count` bytes. Cost: one comparison where they are few. */
  took(count: number): void {
    if (count < turnLimits.bulkReadBytesMin) return;
    openTurn();
    if (this.turn !== turn.number) this.bytes = 0;
    this.turn = turn.number;
    this.bytes += count;
    const max = turn.line.length > 0 ? turnLimits.sharedReadBytesMax : this.aloneBytesMax;
    if (this.bytes < Math.min(max, this.aloneBytesMax)) return;
    if (this.paused || this.waiting || this.socket.destroyed) return;
    this.socket.pause();
    this.lineUp();
  }

  /** Nothing more is to be read. */
  pause(): void {
    if (this.paused) return;
    this.paused = true;
    if (!this.waiting) this.socket.pause();
  }

  /** Reads on: at once, or after those in line. */
  resume(): void {
    if (!this.paused) return;
    this.paused = false;
    if (this.waiting) return;
    if (turn.line.length > 0) this.lineUp();
    else this.socket.resume();
  }

  private lineUp(): void {
    this.waiting = true;
    turn.line.push(this);
    openTurn();
  }

  /** Its turn has come. */
  readOn(): void {
    this.waiting = false;
    if (!this.paused && !this.socket.destroyed) this.socket.resume();
  }
}

function openTurn(): void {
  if (!turn.open) setImmediate(nextTurn);
  turn.open = true;
}

function nextTurn(): void {
  turn.number++;
  turn.open = false;
  const next = turn.line.splice(0, turnLimits.readersPerTurnMax);
  if (turn.line.length > 0) openTurn();
  for (const reader of next) reader.readOn();
}
