/**
 * The response side of one request: the origin's answer is held where the policy inspects it, then
 * paid out as fast as the client takes it, or streamed. What is held counts into the thread's
 * budget until the client has it; the origin is not read meanwhile. Never decides on a verdict.
 */

import { frontLimits } from '../../../base/delivery-limits.ts';
import type { AnswerCompression } from '../../contract/delivery.ts';
import type { BodySnapshot } from '../../contract/message.ts';
import type { RequestHeadParser } from '../../http/request-head.ts';
import type { PhaseDriver } from '../../phases/phase-driver.ts';
import type { PhaseEndings } from '../../phases/phase-host.ts';
import type { OriginLink } from '../../upstream/origin-sink.ts';
import type { FrontContext } from '../front-context.ts';
import type { Holder } from '../wire/held-budget.ts';
import { BODY } from '../../http/head-scanner.ts';
import { AnswerCoder, coderFree, type CodedSink } from './answer-coder.ts';
import { codeAnswer } from './answer-coding.ts';
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
  /** How the request ends where nothing of the origin's answer is sent. */
  readonly endings: Pick<PhaseEndings, 'refuseAnswer'> & {
    refuse(status: 0, reason: string): void;
  };
  /** All of it was sent. */
  responseSent(): void;
}

/** The response to one request; see the header. */
export class ResponseSide implements CodedSink {
  readonly relay: ResponseRelay;
  /** How the answer may be compressed; null for not at all. */
  compression: AnswerCompression | null = null;
  private readonly owner: ResponseOwner;
  private readonly phases: PhaseDriver;
  private state: number = DOWN.NONE;
  /** The origin has said all. */
  private complete = false;
  private coder: AnswerCoder | null = null;
  /** What came is sent on at once: nobody knows when more comes. */
  private flushes = false;

  constructor({ writer, clock }: FrontContext, owner: ResponseOwner, phases: PhaseDriver) {
    this.relay = new ResponseRelay(writer, clock);
    this.owner = owner;
    this.phases = phases;
  }

  /** True while the origin has not begun its answer. */
  get unbegun(): boolean {
    return this.state === DOWN.NONE;
  }

  /** True once the answer goes to the client, so that no other can take its place. */
  get streaming(): boolean {
    return this.state === DOWN.STREAM;
  }

  /** RFC 9110 section 15.2: to the client at once; HTTP/1.0 knows none. */
  interim({ head, headBytes }: OriginLink, request: RequestHeadParser): void {
    if (request.version < 11 || this.state !== DOWN.NONE) return;
    if (!this.owner.send(this.relay.interimHead(headBytes, head))) this.owner.pauseOrigin();
  }

  /** The head is complete. */
  begin(
    connection: OriginLink,
    request: RequestHeadParser,
    requestId: string,
    keep: boolean,
  ): void {
    const { head, headBytes } = connection;
    const coded = this.compression !== null && this.beginCoding(connection);
    this.relay.begin(head, request, keep, coded);
    this.relay.rateLines = this.phases.rateLines;
    if (!this.phases.inspects) {
      this.state = DOWN.STREAM;
      return this.relay.writeHead(headBytes, head, requestId);
    }
    this.relay.keepHead(headBytes, head, requestId);
    const bytes = Buffer.from(headBytes.subarray(0, head.headEnd));
    this.state = DOWN.VERDICT;
    this.phases.answerBegan({ status: head.status, head: { bytes, spans: head.copySpans() } });
  }

  /** True where the content is compressed; its fields are then written. */
  private beginCoding({ head, headBytes }: OriginLink): boolean {
    const { relay } = this;
    const wanted = coderFree() ? this.compression! : { ...this.compression!, coding: '' as const };
    const answer = codeAnswer(headBytes, head, wanted, relay.fields);
    if (answer === null) return false;
    relay.fields = answer.fields;
    if (answer.coding === '') return false;
    if (head.framing !== BODY.NONE) {
      this.coder = new AnswerCoder(answer.coding, this);
      this.flushes = head.framing !== BODY.LENGTH;
    }
    return true;
  }

  /** Body content came. */
  take(bytes: Uint8Array, start: number, end: number): void {
    const { relay, coder } = this;
    if (this.state === DOWN.STREAM && !relay.releasing) {
      if (coder === null) return relay.write(bytes, start, end);
      if (!coder.write(bytes, start, end)) this.owner.pauseOrigin();
      return;
    }
    relay.holder ??= this.owner.holder();
    if (!relay.hold(bytes, start, end)) return this.owner.endings.refuseAnswer(503, 'memory');
    if (this.state !== DOWN.HOLD) return this.owner.pauseOrigin();
    if (relay.heldBytes > this.phases.answerNeed.limitBytes) {
      this.phases.answerHeld(relay.heldBytes);
    }
  }

  /** The origin has said all; `trailers` are lines with their ends. */
  end(trailers = ''): void {
    this.complete = true;
    this.relay.trailers = trailers;
    if (this.state === DOWN.STREAM && !this.relay.releasing) return this.finish();
    if (this.state === DOWN.HOLD) this.phases.answerHeld(this.relay.heldBytes);
  }

  /** What was gathered may be sent. */
  turnEnd(): void {
    if (this.state !== DOWN.STREAM || this.relay.releasing) return;
    if (this.flushes && !this.complete) this.coder!.flush();
    const piece = this.relay.takePiece();
    if (piece !== null && !this.owner.send(piece)) this.owner.pauseOrigin();
  }

  /** Sends the end of a WebSocket after all that came before it. */
  sendLast(frame: Buffer): void {
    if (this.state !== DOWN.STREAM || this.relay.releasing) return;
    this.relay.write(frame, 0, frame.length);
    this.turnEnd();
  }

  /** The client takes more. */
  drained(): void {
    const { coder } = this;
    if (coder !== null) {
      coder.resume();
      if (!coder.full) this.coderDrained();
    } else if (this.relay.releasing) this.pay();
    else this.owner.resumeOrigin();
  }

  /** The body is to be inspected: holds it until there is enough. */
  hold(): void {
    this.state = DOWN.HOLD;
    const { heldBytes } = this.relay;
    if (this.complete || heldBytes > this.phases.answerNeed.limitBytes) {
      this.phases.answerHeld(heldBytes);
    } else this.owner.resumeOrigin();
  }

  /** What is held, at most `limitBytes` of it; the rest stays held as well. */
  takeHeld(limitBytes: number): BodySnapshot {
    const truncated = this.relay.heldBytes > limitBytes;
    const whole = this.relay.joinHeld();
    this.state = DOWN.VERDICT;
    return { bytes: truncated ? whole.subarray(0, limitBytes) : whole, truncated };
  }

  /** Nothing is left to decide: the client may have it. */
  release(): void {
    this.state = DOWN.STREAM;
    if (this.coder !== null) return this.codeHeld(this.coder);
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

  /** Sends the head, and has coded what was held, as far as the coder takes it. */
  private codeHeld(coder: AnswerCoder): void {
    const { relay, owner } = this;
    relay.releasing = true;
    const head = relay.takeHead();
    if (head !== null && !owner.send(head)) coder.pause();
    for (;;) {
      const piece = relay.takeHeld();
      if (piece === null) break;
      if (coder.write(piece, 0, piece.length)) continue;
      if (!this.complete) owner.pauseOrigin();
      return;
    }
    relay.endRelease();
    if (this.flushes && !this.complete) coder.flush();
    this.goOn();
  }

  coded(piece: Buffer): void {
    this.relay.write(piece, 0, piece.length);
    const bytes = this.relay.takePiece();
    if (bytes !== null && !this.owner.send(bytes)) this.coder?.pause();
  }

  coderDrained(): void {
    if (this.relay.releasing) this.codeHeld(this.coder!);
    else if (!this.complete) this.owner.resumeOrigin();
  }

  codedAll(): void {
    this.sendEnd();
  }

  coderFailed(): void {
    this.owner.endings.refuse(0, 'compression');
  }

  /** Throws away what was gathered; false when some of the answer has been sent already. */
  takeBack(): boolean {
    const taken = this.relay.takeBack();
    if (!taken) return false;
    this.coder?.destroy();
    this.coder = null;
    this.flushes = false;
    return true;
  }

  /** The request ended: nothing more is sent. */
  drop(): void {
    this.coder?.destroy();
    this.relay.drop();
  }

  private goOn(): void {
    if (this.complete) this.finish();
    else this.owner.resumeOrigin();
  }

  private finish(): void {
    if (this.coder === null) this.sendEnd();
    else this.coder.end();
  }

  private sendEnd(): void {
    this.relay.finish();
    const piece = this.relay.takePiece();
    if (piece !== null) this.owner.send(piece);
    this.owner.responseSent();
  }
}
