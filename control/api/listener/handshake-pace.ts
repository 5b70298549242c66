/**
 * When TLS handshakes begin. Each costs milliseconds of this thread; when all nodes come back at
 * once, a few begin in a turn of the event loop, and requests are answered between them. Nodes wait
 * until everybody else began, but one of them begins in every turn.
 */

import { callLimits } from '../../limits/call-limits.ts';

type Start = () => void;

/** Handshakes that wait for their turn. Who has a connection bounds them: `connectionsMax`. */
export class HandshakePace {
  readonly #perTurn: number;
  readonly #nextTurn: (run: () => void) => unknown;
  readonly #nodes: Start[] = [];
  readonly #others: Start[] = [];
  #scheduled = false;

  constructor(
    perTurn: number = callLimits.handshakesPerTurn,
    nextTurn: (run: () => void) => unknown = setImmediate,
  ) {
    this.#perTurn = perTurn;
    this.#nextTurn = nextTurn;
  }

  /** Handshakes that wait. */
  get waiting(): number {
    return this.#nodes.length + this.#others.length;
  }

  /** Begins a handshake in one of the next turns. */
  add(start: Start, isNode: boolean): void {
    (isNode ? this.#nodes : this.#others).push(start);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#nextTurn(() => this.#turn());
  }

  #turn(): void {
    this.#scheduled = false;
    const nodesFirst = this.#nodes.splice(0, 1);
    const others = this.#others.splice(0, this.#perTurn - nodesFirst.length);
    const nodes = this.#nodes.splice(0, this.#perTurn - nodesFirst.length - others.length);
    if (this.waiting > 0) this.#schedule();
    for (const start of [...others, ...nodesFirst, ...nodes]) start();
  }
}
