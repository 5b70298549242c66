/**
 * An open WebSocket whose messages are inspected: the gate that frames of the client pass, where
 * frames of the origin begin and end, and how it is closed. Never touches a socket.
 */

import { turnLimits, websocketLimits } from '../../../base/delivery-limits.ts';
import { TurnShare } from '../../base/turn-shares.ts';
import type { EvidenceSource } from '../../contract/evidence.ts';
import type { MaybePromise } from '../../contract/inspection.ts';
import type { MessageHead, RequestSnapshot } from '../../contract/message.ts';
import type { RequestView } from '../../guard/request-view.ts';
import { closingFrame, FRAME, FrameReader, type FrameFault } from '../../http/websocket-frames.ts';
import type { PhaseSite } from '../../phases/phase-host.ts';
import type { FrontContext } from '../front-context.ts';
import type { Generation, Route } from '../generation.ts';
import type { Holder } from '../wire/held-budget.ts';
import { WebsocketGate, type GateOwner } from './websocket-gate.ts';
import {
  inspectMessage,
  messageEvent,
  withoutContentFields,
  type MessageOpening,
} from './websocket-message.ts';

/** The state of the request that opened it. */
interface OpeningRequest {
  readonly front: FrontContext;
  readonly generation: Generation;
  readonly site: Route | null;
  readonly ended: boolean;
  /** What rules see of it. */
  snapshot(): RequestSnapshot;
  view(): RequestView;
  holder(): Holder;
}

/** What the tunnel gets. */
export interface OpenedTunnel {
  readonly request: OpeningRequest;
  /** The way of frames to the origin. */
  readonly side: {
    forwardFrames(bytes: Buffer): void;
    /** The client may send on. */
    resumed(): void;
  };
  /** What its events say of the opening request. */
  readonly opening: MessageOpening;
  readonly evidence: EvidenceSource;
  /** Ends it, after `frame` where the client can be told why; null where it cannot. */
  readonly close: (fault: FrameFault, frame: Buffer | null) => void;
}

/** One WebSocket; see the header. */
export class WebsocketTunnel implements GateOwner {
  readonly gate: WebsocketGate;
  private readonly tunnel: OpenedTunnel;
  private readonly route: Route;
  private readonly site: PhaseSite;
  private readonly first: RequestSnapshot;
  private readonly head: MessageHead;
  private readonly holder: Holder;
  private readonly origin = new FrameReader(false);
  /** Why it ends as soon as the origin's frame is with the client. */
  private closing: FrameFault | null = null;
  private messages = 0;
  private readonly share: TurnShare;

  constructor(tunnel: OpenedTunnel) {
    const { request } = tunnel;
    this.tunnel = tunnel;
    this.route = request.site!;
    this.site = siteOf(this.route);
    this.first = request.snapshot();
    this.head = withoutContentFields(this.first.head);
    this.holder = request.holder();
    this.gate = new WebsocketGate(this);
    this.share = new TurnShare(() => this.gate.proceed());
  }

  /** The request ended. */
  end(): void {
    this.gate.drop();
    this.share.end();
  }

  /** Follows frames of the origin; says up to where they go to the client. */
  fromOrigin(bytes: Uint8Array, start: number, end: number): number {
    const { origin } = this;
    let at = start;
    for (;;) {
      const found = origin.next(bytes, at, end);
      at = origin.at;
      // An origin whose frames are none gets no closing frame in between, see `close`.
      if (found === FRAME.FAULT) return this.closing === null ? end : at;
      if (found === FRAME.END && this.closing !== null) return at;
      if (found === FRAME.MORE) return end;
    }
  }

  /** What `fromOrigin` let pass is on its way. */
  originSent(): void {
    if (this.closing !== null && (this.origin.betweenFrames || this.origin.fault !== null)) {
      this.close(this.closing);
    }
  }

  // ---- what the gate asks

  takesMessage(bytes: number): boolean {
    return this.share.take(turnLimits.messageCost + bytes);
  }

  takesFrame(): boolean {
    return this.share.take(turnLimits.frameCost);
  }

  inspect(text: Buffer, whole: boolean): MaybePromise<FrameFault | null> {
    const { opening, request } = this.tunnel;
    const { front, generation } = request;
    const requestId = `${this.first.requestId.slice(0, idCharsMax)}.m${++this.messages}`;
    const snapshot: RequestSnapshot = {
      ...this.first,
      requestId,
      receivedAtMs: front.clock.nowMs(),
      head: this.head,
      messageBytes: text.length,
    };
    const policyId = this.route.site.waf.policyId ?? '';
    generation.acquire();
    return inspectMessage({
      ...{ site: this.site, snapshot, text, whole },
      view: () => request.view(),
      admitsInspection: () => front.overload.admits(),
      done: (record, fault) => {
        generation.release();
        try {
          const event = messageEvent(opening, snapshot, text.length, record, fault);
          front.onMessageDone(event, policyId, this.evidence());
        } catch (thrown) {
          front.onEventFault(thrown);
        }
      },
    });
  }

  forward(bytes: Buffer): void {
    this.tunnel.side.forwardFrames(bytes);
  }

  hold(bytes: number): boolean {
    return this.holder.hold(bytes);
  }

  fail(fault: FrameFault): void {
    const { origin } = this;
    const waits = !origin.betweenFrames && origin.fault === null;
    if (waits && origin.remaining <= websocketLimits.closeWaitBytesMax) this.closing = fault;
    else this.close(fault);
  }

  resumed(): void {
    if (!this.tunnel.request.ended) this.tunnel.side.resumed();
  }

  /** A closing frame reaches the client between two frames of the origin, never within one. */
  private close(fault: FrameFault): void {
    this.closing = null;
    const { betweenFrames, fault: odd } = this.origin;
    const told = betweenFrames && odd === null;
    this.tunnel.close(fault, told ? closingFrame(fault.code) : null);
  }

  /** The opening request's lines; what is kept of bodies is for bodies of requests. */
  private evidence(): EvidenceSource {
    const none = new Uint8Array();
    return {
      headerLines: () => this.tunnel.evidence.headerLines(),
      answerHead: () => none,
      capturedBody: () => null,
      answerBody: () => null,
    };
  }
}

/** Ids of messages are as long as ids may be, see `keptRequestId`. */
const idCharsMax = 112;

/** Where messages are only observed, neither a verdict nor a failure ends anything. */
function siteOf({ site, inspector }: Route): PhaseSite {
  const { mode, failPolicy } = site.waf;
  const blocks = site.websocketMessages === 'block';
  const waf = {
    ...site.waf,
    mode: blocks ? mode : ('detection' as const),
    failPolicy: blocks ? failPolicy : ('open' as const),
  };
  return { site: { id: site.id, waf }, inspector, guards: null };
}

/** True where the site inspects messages of WebSockets, and something is there to do it. */
export function inspectsMessages({ site, inspector }: Route): boolean {
  return site.websocketMessages !== undefined && inspector !== null;
}
