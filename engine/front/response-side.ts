/**
 * Owns the response side of one request: the origin's answer is held where the policy inspects it,
 * then paid out as fast as the client takes it, or streamed. What is held counts into the thread's
 * budget until the client has it; the origin is not read meanwhile. Never decides on a verdict.
 */

import { frontLimits } from '../base/limits.ts';
import type { BodySnapshot, ResponseSnapshot } from '../contract/message.ts';
import type { RequestHeadParser } from '../http/request-head.ts';
import type { OriginConnection } from '../upstream/origin-connection.ts';
import type { FrontContext } from './front-context.ts';
import type { Holder } from './held-budget.ts';
import type { InspectionRun } from './inspection-run.ts';
import { ResponseRelay } from './response-relay.ts';

/** Where the response is. */
const DOWN = { NONE: 0, VERDICT: 1, HOLD: 2, STREAM: 3 } as const;

/** What a response needs from the request that it belongs to. */
export interface ResponseOwner {
  /** Sends a piece to the client; false when it should wait. */
  send(piece: Uint8Array): boolean;
  pauseOrigin(): void;
  resumeOrigin(): void;
  /** A place in the budget of held bytes. */
  holder(): Holder;
  /** Runs phase 3 or 4, see `snapshot` and `body`. */
  inspect(phase: 3 | 4): void;
  /** Answers with an error of our own instead. */
  refuseResponse(status: number, reason: string): void;
  /** All of it was sent. */
  responseSent(): void;
}

/** The response to one request; see the header. */
export class ResponseSide {
  snapshot: ResponseSnapshot | null = null;
  /** What phase 4 inspects. */
  body: BodySnapshot | null = null;
  readonly relay: ResponseRelay;
  private readonly owner: ResponseOwner;
  private readonly inspection: InspectionRun;
  private state: number = DOWN.NONE;
  /** The origin has said all. */
  private complete = false;

  constructor({ writer, clock }: FrontContext, owner: ResponseOwner, inspection: InspectionRun) {
    this.relay = new ResponseRelay(writer, clock);
    this.owner = owner;
    this.inspection = inspection;
  }

  /** True while the origin has not begun its answer. */
  get unbegun(): boolean {
    return this.state === DOWN.NONE;
  }

  /** True once the answer goes to the client, so that no other can take its place. */
  get streaming(): boolean {
    return this.state === DOWN.STREAM;
  }

  /** The head is complete. */
  begin(
    connection: OriginConnection,
    request: RequestHeadParser,
    requestId: string,
    keep: boolean,
  ): void {
    const { head, headBytes } = connection;
    this.relay.begin(head, request, keep);
    if (!this.inspection.active) {
      this.state = DOWN.STREAM;
      return this.relay.writeHead(headBytes, head, requestId);
    }
    this.relay.keepHead(headBytes, head, requestId);
    const bytes = Buffer.from(headBytes.subarray(0, head.headEnd));
    this.snapshot = { status: head.status, head: { bytes, spans: head.copySpans() } };
    this.state = DOWN.VERDICT;
    this.owner.inspect(3);
  }

  /** Body content came. */
  take(bytes: Uint8Array, start: number, end: number): void {
    const { relay } = this;
    if (this.state === DOWN.STREAM && !relay.releasing) return relay.write(bytes, start, end);
    relay.holder ??= this.owner.holder();
    if (!relay.hold(bytes, start, end)) return this.owner.refuseResponse(503, 'memory');
    if (this.state !== DOWN.HOLD) return this.owner.pauseOrigin();
    const { limitBytes, onExcess } = this.inspection.responseNeed;
    if (relay.heldBytes > limitBytes) this.inspectHeld(limitBytes, onExcess);
  }

  /** The origin has said all. */
  end(): void {
    this.complete = true;
    if (this.state === DOWN.STREAM && !this.relay.releasing) return this.finish();
    if (this.state === DOWN.HOLD) this.inspectHeld(Infinity, 'prefix');
  }

  /** What was gathered may be sent. */
  turnEnd(): void {
    if (this.state !== DOWN.STREAM || this.relay.releasing) return;
    const piece = this.relay.takePiece();
    if (piece !== null && !this.owner.send(piece)) this.owner.pauseOrigin();
  }

  /** The client takes more. */
  drained(): void {
    if (this.relay.releasing) this.pay();
    else this.owner.resumeOrigin();
  }

  /** Phase 3 passed. */
  afterHead(): void {
    const need = this.inspection.responseNeed;
    if (!need.inspect || !this.relay.hasBody) {
      return this.inspection.active ? this.owner.inspect(4) : this.release();
    }
    this.state = DOWN.HOLD;
    if (this.complete || this.relay.heldBytes > need.limitBytes) {
      this.inspectHeld(need.limitBytes, need.onExcess);
    } else this.owner.resumeOrigin();
  }

  private inspectHeld(limitBytes: number, onExcess: 'reject' | 'prefix'): void {
    const truncated = this.relay.heldBytes > limitBytes;
    if (truncated && onExcess === 'reject') {
      return this.owner.refuseResponse(502, 'response_over_inspection_limit');
    }
    const whole = this.relay.joinHeld();
    this.body = { bytes: truncated ? whole.subarray(0, limitBytes) : whole, truncated };
    this.state = DOWN.VERDICT;
    this.owner.inspect(4);
  }

  /** Nothing is left to decide: the client may have it. */
  release(): void {
    this.body = null;
    this.state = DOWN.STREAM;
    this.relay.beginRelease(frontLimits.releasedAtOnceBytesMax);
    if (this.relay.releasing) this.pay();
    else this.goOn();
  }

  /** Pays out what was held, as far as the client takes it. */
  private pay(): void {
    const { relay, owner } = this;
    for (;;) {
      const piece = relay.nextReleased(frontLimits.releasedPieceBytes);
      if (piece === null) break;
      if (!owner.send(piece)) {
        // The pieces after it wait, and so does the origin.
        if (!this.complete) owner.pauseOrigin();
        return;
      }
    }
    relay.endRelease();
    this.goOn();
  }

  private goOn(): void {
    if (this.complete) this.finish();
    else this.owner.resumeOrigin();
  }

  private finish(): void {
    this.relay.finish();
    const piece = this.relay.takePiece();
    if (piece !== null) this.owner.send(piece);
    this.owner.responseSent();
  }
}
