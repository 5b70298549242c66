/**
 * When the sockets of a thread are written: the first piece of a turn of the event loop goes out at
 * once, small pieces after it leave together when the turn ends. Under load the work on several
 * requests then runs without system calls in between; what is alone waits for nobody.
 */

import { turnLimits } from '../../base/delivery-limits.ts';

/** What a turn writer needs of a socket; `net.Socket` and `tls.TLSSocket` have it. */
export interface TurnSocket {
  readonly destroyed: boolean;
  /** Bytes that the socket has taken and not sent. */
  readonly writableLength: number;
  write(bytes: Uint8Array): boolean;
}

/** What waits for the end of a turn. */
export interface TurnMember {
  /** The turn ends: write now. */
  endTurn(): void;
}

/** The turn that runs on this thread. */
const turn = {
  /** True while its end is waited for. */
  open: false,
  /** True once a piece went out: what follows waits. */
  busy: false,
  waiting: [] as TurnMember[],
};

/**
 * For what gathers its bytes itself: true when nothing went out in this turn yet, so that `member`
 * writes at once; else its `endTurn` is called when the turn ends, or earlier where many wait.
 */
export function firstOfTurn(member: TurnMember): boolean {
  const { busy } = openTurn();
  turn.busy = true;
  if (!busy) return true;
  turn.waiting.push(member);
  if (turn.waiting.length >= turnLimits.waitingPiecesMax) flushTurn();
  return false;
}

/** Writes to one socket, in order. Pieces must not change until they are sent. */
export class TurnWriter implements TurnMember {
  private readonly socket: TurnSocket;
  private piece: Uint8Array | null = null;
  private listed = false;

  constructor(socket: TurnSocket) {
    this.socket = socket;
  }

  /**
   * Writes now or, with the pieces before it in one, at the end of the turn; false when the caller
   * should wait for the socket's `drain`. `more` says that another piece may follow in this turn:
   * call `release` when none does. Less waits than a socket accepts before it asks to wait.
   */
  write(bytes: Uint8Array, more = false): boolean {
    const { piece, socket } = this;
    const length = bytes.length + (piece === null ? 0 : piece.length);
    const direct = piece === null && !more && !turn.busy;
    if (direct || length > turnLimits.waitingBytesMax || socket.writableLength > 0) {
      openTurn().busy = true;
      this.flush();
      return socket.write(bytes);
    }
    this.piece = piece === null ? bytes : Buffer.concat([piece, bytes], length);
    if (!this.listed) openTurn().waiting.push(this);
    this.listed = true;
    if (!more) this.release();
    return true;
  }

  /** Nothing follows what waits: writes it now if it is the turn's first. */
  release(): void {
    if (this.piece === null) return;
    if (!turn.busy) {
      turn.busy = true;
      this.flush();
    } else if (turn.waiting.length >= turnLimits.waitingPiecesMax) flushTurn();
  }

  /** Writes what waits; call before the socket is ended. */
  flush(): void {
    const piece = this.take();
    if (piece !== null && !this.socket.destroyed) this.socket.write(piece);
  }

  /** Hands back what waits, to be written by the caller. */
  take(): Uint8Array | null {
    const { piece } = this;
    this.piece = null;
    return piece;
  }

  /** The turn ends. */
  endTurn(): void {
    this.listed = false;
    this.flush();
  }
}

function openTurn(): typeof turn {
  if (!turn.open) setImmediate(endTurn);
  turn.open = true;
  return turn;
}

function endTurn(): void {
  turn.open = false;
  turn.busy = false;
  flushTurn();
}

function flushTurn(): void {
  const { waiting } = turn;
  turn.waiting = [];
  for (const member of waiting) member.endTurn();
}
