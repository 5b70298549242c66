/**
 * The inspection of one message of a WebSocket, or of one piece: the opening request again, with
 * the message as its body, through the same driver and engine as every request, and its event.
 */

import type { RequestEvent } from '../../contract/events.ts';
import type { MaybePromise } from '../../contract/inspection.ts';
import type { PhaseResult } from '../../contract/inspection-failure.ts';
import { SPAN } from '../../contract/message.ts';
import type { BodySnapshot, MessageHead, RequestSnapshot } from '../../contract/message.ts';
import type { TransactionRecord, Verdict } from '../../contract/verdict.ts';
import type { RequestView } from '../../guard/request-view.ts';
import { CLOSE_CODE, closingFrame, type FrameFault } from '../../http/websocket-frames.ts';
import type { BodyRestRun } from '../../phases/body-rest-run.ts';
import { PhaseDriver } from '../../phases/phase-driver.ts';
import type { PhaseHost, PhaseSite } from '../../phases/phase-host.ts';

/** One message, and what it is inspected with. */
export interface InspectedMessage {
  readonly site: PhaseSite;
  readonly snapshot: RequestSnapshot;
  readonly text: Buffer;
  /** False where `text` is a piece of the message. */
  readonly whole: boolean;
  readonly view: () => RequestView;
  readonly admitsInspection: () => boolean;
  /** It was inspected; `fault` says why it does not pass, null where it does. */
  readonly done: (record: TransactionRecord | null, fault: FrameFault | null) => void;
}

/** Name of the limit that a message reaches which is not inspected as a whole. */
const longMessage = 'websocket-message';

/** What a rule decided. */
export const messageBlocked: FrameFault = {
  code: CLOSE_CODE.POLICY,
  reason: 'websocket_message',
};
const uninspected: FrameFault = { code: CLOSE_CODE.INTERNAL, reason: 'websocket_uninspected' };

/** Inspects it; gives why it does not pass, null where it does. */
export function inspectMessage(message: InspectedMessage): MaybePromise<FrameFault | null> {
  return new MessageRun(message).run();
}

class MessageRun implements PhaseHost {
  ended = false;
  readonly hasBody = true;
  readonly bodyBytesMax = Infinity;
  readonly headRefusal = null;
  readonly answerHasBody = false;
  readonly guardTrace = null;
  private readonly message: InspectedMessage;
  private readonly phases = new PhaseDriver(this);
  private decided = false;
  private fault: FrameFault | null = null;
  /** The policy inspects less than it got. */
  private cut = false;
  /** More than what is inspected as a whole. */
  private long = false;
  private settle: ((fault: FrameFault | null) => void) | null = null;

  constructor(message: InspectedMessage) {
    this.message = message;
  }

  run(): MaybePromise<FrameFault | null> {
    this.phases.start(this.message.site);
    if (this.decided) return this.finish();
    return new Promise((resolve) => (this.settle = resolve));
  }

  private finish(): FrameFault | null {
    const { message, fault } = this;
    this.ended = true;
    this.phases.finish((record) => message.done(this.completed(record), fault));
    return fault;
  }

  /** The record of a message that was not inspected as a whole names the limit. */
  private completed(record: TransactionRecord | null): TransactionRecord | null {
    if (record === null || (this.message.whole && !this.cut)) return record;
    return { ...record, limitsReached: [...(record.limitsReached ?? []), longMessage] };
  }

  // ---- what the phase driver asks

  get bodyLength(): number {
    return this.message.text.length;
  }

  view(): RequestView {
    return this.message.view();
  }

  snapshot(): RequestSnapshot {
    return this.message.snapshot;
  }

  admitsInspection(): boolean {
    return this.message.admitsInspection();
  }

  holdBody(): void {
    this.phases.bodyHeld(this.bodyLength);
  }

  takeBody(limitBytes: number): BodySnapshot {
    const { text } = this.message;
    this.long = text.length > limitBytes;
    return { bytes: text.subarray(0, limitBytes), truncated: text.length > limitBytes };
  }

  route(): 'routed' {
    return 'routed';
  }

  connect(): void {
    const run = this.phases.bodyRest;
    if (run !== null) return this.inspectRest(run, run.inspected);
    this.cut ||= this.long;
    this.decided = true;
  }

  /** The windows over a long message, as bodies have them; others have their turn in between. */
  private inspectRest(run: BodyRestRun, at: number): void {
    const { text } = this.message;
    const end = Math.min(text.length, at + Math.min(run.room, run.pieceBytes));
    if (end === at) {
      this.cut = at < text.length;
      run.skip(text.length - at);
      this.decided = true;
      return;
    }
    const result = run.inspect(text.subarray(at, end), end === text.length);
    if (result instanceof Promise) void result.then((settled) => this.goOn(run, end, settled));
    else setImmediate(() => this.goOn(run, end, result));
  }

  private goOn(run: BodyRestRun, at: number, result: PhaseResult): void {
    if (this.ended) return;
    if (this.phases.restDecided(result)) this.inspectRest(run, at);
    else this.decided = true;
    this.resumed();
  }

  holdAnswer(): void {
    this.decided = true;
  }

  takeAnswer(): null {
    return null;
  }

  releaseAnswer(): void {
    this.decided = true;
  }

  resumed(): void {
    if (this.decided) this.settle?.(this.finish());
  }

  // ---- how it ends

  /** Longer than what the policy takes; where messages are only observed that ends nothing. */
  refuse(_status: number, reason: string): void {
    this.cut = true;
    if (this.message.site.site.waf.mode !== 'blocking') this.decided = true;
    else this.end({ code: CLOSE_CODE.TOO_LARGE, reason });
  }

  refuseAnswer(status: number, reason: string): void {
    this.refuse(status, reason);
  }

  answerUnrouted(): void {
    this.end(uninspected);
  }

  answerUninspected(): void {
    this.end(uninspected);
  }

  enforce(_verdict: Verdict): void {
    this.end(messageBlocked);
  }

  enforceGuard(): void {
    this.end(messageBlocked);
  }

  private end(fault: FrameFault): void {
    this.fault = fault;
    this.decided = true;
  }
}

/** Fields of the opening request that would say of a message what its content is. */
const contentFields = ['content-type', 'content-encoding', 'content-length', 'transfer-encoding'];

/** The head without them: a message has no type, and is read by its content. */
export function withoutContentFields({ bytes, spans }: MessageHead): MessageHead {
  const count = spans[SPAN.fieldCount]!;
  const kept = Array.from(spans.subarray(0, SPAN.fields));
  for (let i = 0; i < count; i++) {
    const at = SPAN.fields + 4 * i;
    const name = Buffer.from(bytes.subarray(spans[at], spans[at + 1])).toString('latin1');
    if (contentFields.includes(name.toLowerCase())) continue;
    kept.push(...spans.subarray(at, at + 4));
  }
  kept[SPAN.fieldCount] = (kept.length - SPAN.fields) / 4;
  return { bytes, spans: Int32Array.from(kept) };
}

/** What the event of a message takes from its opening request. */
export type MessageOpening = Pick<
  RequestEvent,
  'siteId' | 'clientIp' | 'clientPort' | 'method' | 'host' | 'target' | 'httpVersion' | 'userAgent'
> &
  Partial<Pick<RequestEvent, 'tls' | 'referer' | 'endpoint' | 'upstreamId' | 'routeId'>>;

/** The event of an inspected message. */
export function messageEvent(
  opening: MessageOpening,
  { requestId, receivedAtMs }: Pick<RequestSnapshot, 'requestId' | 'receivedAtMs'>,
  bytesIn: number,
  transaction: TransactionRecord | null,
  fault: FrameFault | null,
): RequestEvent {
  const { siteId, clientIp, clientPort, method, host, target, httpVersion, userAgent } = opening;
  const { tls, referer, endpoint = null, upstreamId = '', routeId = '' } = opening;
  const blocked = fault === messageBlocked;
  const failed = fault === uninspected;
  const refused = fault !== null && !blocked && !failed;
  return {
    ...{ siteId, clientIp, clientPort, method, host, target, httpVersion, userAgent },
    ...{ endpoint, upstreamId, routeId },
    ...(tls && { tls }),
    ...(referer !== undefined && { referer }),
    ...{ requestId, receivedAtMs, bytesIn, transaction, blocked },
    durationUs: transaction?.inspectionUs ?? 0,
    originUs: -1,
    status: statusOf(fault, transaction),
    outcome: blocked ? 'blocked' : failed ? 'inspection_failed' : refused ? 'refused' : 'served',
    refusal: fault?.reason ?? null,
    bytesOut: fault === null ? 0 : closingFrame(fault.code).length,
  };
}

/** What a request gets in the place of such a message; 101 where it passed. */
function statusOf(fault: FrameFault | null, transaction: TransactionRecord | null): number {
  if (fault === null) return 101;
  if (fault === messageBlocked) return transaction?.verdict.status || 403;
  return fault === uninspected ? 503 : 413;
}
