/**
 * The request side of one request: whether body bytes are welcome, held for inspection, or flow to
 * the origin. What is held counts into the thread's budget. Never decides on a verdict.
 */

import type { BodySnapshot } from '../../contract/message.ts';
import type { Refusal } from '../../http/refusal.ts';
import type { RequestHeadParser } from '../../http/request-head.ts';
import type { PhaseResult } from '../../contract/inspection-failure.ts';
import type { PhaseDriver } from '../../phases/phase-driver.ts';
import type { OriginLink } from '../../upstream/origin-sink.ts';
import type { BodyCapture } from '../facts/body-capture.ts';
import type { ClientPort } from '../client-port.ts';
import type { RequestHeadFacts } from '../wire/forward-heads.ts';
import type { FrontContext } from '../front-context.ts';
import type { Holder } from '../wire/held-budget.ts';
import { RequestRelay } from './request-relay.ts';
import { RestGate, type RestOwner } from './rest-gate.ts';
import type { WebsocketGate } from '../websocket/websocket-gate.ts';

/** What happens to the body. */
const UP = { WAIT: 0, HOLD: 1, FLOW: 2, DONE: 3 } as const;

/** Why a body cannot be taken. */
export const noRoom: Pick<Refusal, 'status' | 'reason'> = { status: 503, reason: 'memory' };

/** The request to one response; see the header. */
export class RequestSide implements RestOwner {
  /** Copies the body for evidence; null for no copy. */
  captured: BodyCapture | null = null;
  private readonly relay: RequestRelay;
  private readonly head: RequestHeadParser;
  private readonly client: ClientPort;
  private readonly phases: PhaseDriver;
  private state: number;

  constructor(front: FrontContext, client: ClientPort, phases: PhaseDriver) {
    this.head = client.parser;
    this.client = client;
    this.phases = phases;
    this.relay = new RequestRelay(front, this.head);
    this.state = this.relay.hasBody ? UP.WAIT : UP.DONE;
  }

  /** The body is refused where it is longer than this. */
  limitBody(bytesMax: number): void {
    this.relay.limitBody(bytesMax);
  }

  get hasBody(): boolean {
    return this.relay.hasBody;
  }

  /** Content bytes read so far. */
  get bodyBytes(): number {
    return this.relay.bodyBytes;
  }

  /** True while body bytes from the client are welcome. */
  get wantsBody(): boolean {
    const { blocked, waiting } = this.relay;
    return this.state === UP.HOLD || (this.state === UP.FLOW && !blocked && !waiting);
  }

  /** True while the origin takes no more body bytes. */
  get blocked(): boolean {
    return this.state === UP.FLOW && this.relay.blocked;
  }

  get complete(): boolean {
    return this.state === UP.DONE;
  }

  /** Takes framing off bytes [start, end); says where what follows the body begins. */
  read(bytes: Buffer, start: number, end: number): number {
    return this.relay.read(bytes, start, end);
  }

  /** Handles what `read` found from `start` on; gives why it cannot be taken, null when it is. */
  accept(bytes: Buffer, start: number): Pick<Refusal, 'status' | 'reason'> | null {
    const { relay } = this;
    if (relay.fault !== null) return relay.fault;
    if (this.captured !== null) relay.capture(this.captured, bytes, start);
    if (this.state === UP.FLOW) {
      relay.forward(bytes, start);
      if (relay.bodyRead) this.end();
      return null;
    }
    if (!relay.hold(bytes, start)) return noRoom;
    if (relay.bodyRead) this.end();
    const { bodyBytes } = relay;
    if (relay.bodyRead || bodyBytes > this.phases.bodyNeed.limitBytes) {
      this.phases.bodyHeld(bodyBytes);
    }
    return null;
  }

  /** The body is to be inspected: holds it until there is enough. */
  hold(holder: Holder): void {
    this.sendContinue();
    this.state = UP.HOLD;
    this.relay.holder = holder;
    this.client.bodyWanted(true);
  }

  /** What is held, at most `limitBytes` of it; the rest stays held as well. */
  takeHeld(limitBytes: number): BodySnapshot {
    const truncated = this.relay.bodyBytes > limitBytes;
    // Rules read the beginning only: joining the rest as well would take several milliseconds.
    const joined = this.relay.joinHeld(truncated ? limitBytes : Infinity);
    if (this.state === UP.HOLD) this.state = UP.WAIT;
    this.client.bodyWanted(false);
    return { bytes: truncated ? joined.subarray(0, limitBytes) : joined, truncated };
  }

  /** Sends the head and what is held; what is missing of the body flows from now on. */
  open(connection: OriginLink, bytes: Buffer, facts: RequestHeadFacts): void {
    const run = this.phases.bodyRest;
    if (run !== null) this.relay.openRest(new RestGate(run, this), run.inspected);
    this.relay.open(connection, bytes, facts);
    if (this.state === UP.DONE) return;
    this.state = UP.FLOW;
    this.sendContinue();
    this.client.bodyWanted(true);
  }

  /** A WebSocket is open: bytes flow until one side closes, through `gate` where there is one. */
  openTunnel(gate: WebsocketGate | null): void {
    this.relay.openTunnel(gate);
    this.state = UP.FLOW;
    this.client.tunnelOpened();
  }

  /** Sends frames that passed. */
  forwardFrames(bytes: Buffer): void {
    this.relay.forwardFrames(bytes);
  }

  /** An inspection of frames is over. */
  resumeTunnel(): void {
    if (this.state === UP.FLOW) this.client.bodyWanted(true);
  }

  // ---- what the gate of a long body asks

  forward(bytes: Buffer): void {
    this.relay.forwardRest(bytes);
  }

  finished(): void {
    this.relay.endBody();
  }

  /** Of the budget, as what is held. */
  holdsRest(bytes: number): boolean {
    return this.relay.holder!.hold(bytes);
  }

  decided(result: PhaseResult): boolean {
    return this.phases.restDecided(result);
  }

  resumed(): void {
    if (this.state === UP.FLOW) this.client.bodyWanted(true);
  }

  /** The origin takes more. */
  drained(): void {
    this.relay.drained();
    if (this.state === UP.FLOW) this.client.bodyWanted(true);
  }

  /** The origin answered without waiting for the whole body: nobody is left to take the rest. */
  abandon(): void {
    if (this.state === UP.FLOW) this.state = UP.WAIT;
    this.relay.stopSending();
  }

  /** The origin is gone. */
  stopSending(): void {
    this.relay.stopSending();
  }

  /** Gives up what is held. */
  drop(): void {
    this.relay.stopSending();
    this.relay.drop();
  }

  /** Nothing reads any more what was held. */
  recycle(): void {
    this.relay.recycle();
  }

  private end(): void {
    this.state = UP.DONE;
    this.client.bodyWanted(false);
  }

  private sendContinue(): void {
    if (!this.head.expectContinue || this.head.version !== 11) return;
    this.head.expectContinue = false;
    this.client.send(continueLine);
  }
}

const continueLine = Buffer.from('HTTP/1.1 100 Continue\r\n\r\n');
