/**
 * How much of a turn of the event loop the messages of one client take: 9,000 messages fit into one
 * read, and inspecting all of them at once would keep every other client waiting. Whoever used its
 * share stands in line, and each turn continues with those. Bounds work, measures no time.
 */

import { turnLimits } from '../../base/delivery-limits.ts';

/** The turn that runs on this thread, what it has spent, and who stands in line. */
const turn = { number: 0, open: false, spent: 0, line: [] as TurnShare[] };

/** The share of one client. */
export class TurnShare {
  private readonly goOn: () => void;
  private turn = -1;
  private spent = 0;
  /** What the work costs that waits. */
  private waitsFor = 0;
  private waiting = false;
  private ended = false;

  /** `goOn` is called in a later turn, after `take` said false: the work may be done then. */
  constructor(goOn: () => void) {
    this.goOn = goOn;
  }

  /**
   * True where work of this cost, in bytes, may be done in this turn. False: it waits, and `goOn`
   * follows. The last work of a turn may be larger than what is left of it, so that all work is
   * done some time.
   */
  take(cost: number): boolean {
    openTurn();
    if (this.turn !== turn.number) this.spent = 0;
    this.turn = turn.number;
    if (turn.spent >= turnLimits.messageCostMax || this.spent >= turnLimits.messageShareMax) {
      this.lineUp(cost);
      return false;
    }
    this.spend(cost);
    return true;
  }

  /** Nothing more is to be done. */
  end(): void {
    this.ended = true;
  }

  /** Its turn has come; called by the line. */
  proceed(): void {
    this.waiting = false;
    if (this.ended) return;
    this.spend(this.waitsFor);
    this.goOn();
  }

  private spend(cost: number): void {
    if (this.turn !== turn.number) this.spent = 0;
    this.turn = turn.number;
    this.spent += cost;
    turn.spent += cost;
  }

  private lineUp(cost: number): void {
    if (this.waiting) return;
    this.waiting = true;
    this.waitsFor = cost;
    turn.line.push(this);
  }
}

function openTurn(): void {
  if (!turn.open) setImmediate(nextTurn);
  turn.open = true;
}

function nextTurn(): void {
  turn.number++;
  turn.open = false;
  turn.spent = 0;
  // Who stands in line again waits for the next turn.
  const { line } = turn;
  turn.line = [];
  let at = 0;
  while (at < line.length && turn.spent < turnLimits.messageCostMax) line[at++]!.proceed();
  // Those who were not served stay before those who were.
  if (at < line.length) turn.line = [...line.slice(at), ...turn.line];
  if (turn.line.length > 0) openTurn();
}
