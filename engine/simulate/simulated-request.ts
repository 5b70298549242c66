/**
 * Runs one request that nobody sent through the phase driver, on the calling thread: the same steps
 * as live traffic, with its bodies at hand and without sockets. The corpus runners and TestPolicy
 * share it. Needs an inspector that answers at once.
 */

import type { SiteAnswered } from '../contract/evaluation.ts';
import type { RequestOutcome } from '../contract/events.ts';
import type { GuardNote, GuardTraceEntry, GuardVerdict } from '../contract/guard.ts';
import type { Inspector } from '../contract/inspection.ts';
import { SPAN } from '../contract/message.ts';
import type { BodySnapshot, RequestSnapshot, ResponseSnapshot } from '../contract/message.ts';
import { passVerdict, type TransactionRecord, type Verdict } from '../contract/verdict.ts';
import { RequestView, type ViewedHead } from '../guard/request-view.ts';
import type { SiteDelivery } from '../guard/site-delivery.ts';
import type { PathPrefixes } from '../http/path-prefixes.ts';
import type { Refusal } from '../http/refusal.ts';
import { withPatchNotes } from '../phases/patch-notes.ts';
import { PhaseDriver } from '../phases/phase-driver.ts';
import type { PhaseHost, PhaseSite, RouteResult } from '../phases/phase-host.ts';

/** One request with all that follows it. */
export interface SimulatedRequest {
  readonly snapshot: RequestSnapshot;
  /** As the parser read it; what a guard is asked about. Default: read off the snapshot. */
  readonly head?: ViewedHead;
  /** Host to route by; for guards. */
  readonly host?: string;
  /** What the parser refuses after the rules. */
  readonly headRefusal?: Refusal | null;
  /** Content without transfer coding; null for none. */
  readonly body: Uint8Array | null;
  /** Called when all is decided, before phase 5 releases the session. */
  readonly beforeEnd?: () => void;
  /** The origin's answer; without one the request ends when it would be sent. */
  readonly answer?: { readonly head: ResponseSnapshot; readonly body: Uint8Array | null };
}

/** A site with what it decides by path; absent or null where nothing of it is set. */
export interface DeliveredSite extends PhaseSite {
  readonly delivery?: SiteDelivery | null;
  readonly routes?: PathPrefixes<object> | null;
}

/** What came of it. */
export interface SimulatedOutcome {
  readonly outcome: RequestOutcome;
  /** Status of the product's own answer; 0 when the origin answers, or nobody. */
  readonly status: number;
  /** Code of the refusal; '' for none. */
  readonly refusal: string;
  /** What the site answered in place of its origin; null for nothing. */
  readonly siteAnswer: SiteAnswered | null;
  /** The verdict that was enforced; `pass` when none was. */
  readonly verdict: Verdict;
  /** Null when nothing was inspected. */
  readonly record: TransactionRecord | null;
  readonly notes: readonly GuardNote[];
  /** Every guard that was asked. */
  readonly guardTrace: readonly GuardTraceEntry[];
}

/** A site whose policy acts on its own: what runs a policy without a site. */
export function policyAlone(inspector: Inspector): PhaseSite {
  const waf = { enabled: true, mode: 'blocking', failPolicy: 'closed' } as const;
  return { site: { id: '', waf }, inspector, guards: null };
}

/** Runs the request through the steps of live traffic. `site` null: no site answers. */
export function simulateRequest(
  site: DeliveredSite | null,
  request: SimulatedRequest,
): SimulatedOutcome {
  return new Simulation(request).run(site);
}

class Simulation implements PhaseHost {
  ended = false;
  bodyBytesMax = Infinity;
  readonly guardTrace: GuardTraceEntry[] = [];
  private readonly request: SimulatedRequest;
  private readonly phases = new PhaseDriver(this);
  private outcome: RequestOutcome = 'served';
  private status = 0;
  private refusal = '';
  private site: DeliveredSite | null = null;
  private siteAnswer: SiteAnswered | null = null;
  private verdict = passVerdict;
  private decided = false;

  constructor(request: SimulatedRequest) {
    this.request = request;
  }

  run(site: DeliveredSite | null): SimulatedOutcome {
    this.site = site;
    if (!this.answersItself(site?.delivery ?? null)) this.phases.start(site);
    if (!this.decided) throw new Error('an inspector answered late');
    this.request.beforeEnd?.();
    let record: TransactionRecord | null = null;
    this.ended = true;
    this.phases.finish((kept) => (record = kept));
    const { outcome, status, refusal, siteAnswer, verdict, guardTrace } = this;
    const notes = withPatchNotes(this.phases.notes, record, outcome === 'blocked');
    return { outcome, status, refusal, siteAnswer, verdict, record, notes, guardTrace };
  }

  /** Before all else, as live: what the site answers by itself, and the bound of the body. */
  private answersItself(delivery: SiteDelivery | null): boolean {
    if (delivery === null || this.headRefusal !== null) return false;
    const view = this.view();
    const answer = delivery.answer(view);
    if (answer === null) {
      this.bodyBytesMax = delivery.bodyBytesMax(view, this.bodyBytesMax);
      return false;
    }
    const { status, reason, location } = answer;
    this.siteAnswer = { name: delivery.answerer(view)!, status, location: location ?? '' };
    this.end(reason === null ? 'served' : 'refused', status, reason ?? '');
    return true;
  }

  // ---- what the phase driver asks

  get hasBody(): boolean {
    return this.request.body !== null;
  }

  get bodyLength(): number {
    return this.request.body?.length ?? 0;
  }

  get headRefusal(): Refusal | null {
    return this.request.headRefusal ?? null;
  }

  get answerHasBody(): boolean {
    return this.request.answer !== undefined && this.request.answer.body !== null;
  }

  view(): RequestView {
    const { snapshot, host = '' } = this.request;
    const { bytes, spans } = snapshot.head;
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const view = new RequestView();
    view.begin(this.request.head ?? headOf(spans), buffer, snapshot.connection);
    view.siteId = snapshot.siteId;
    view.host = host;
    view.nowMs = snapshot.receivedAtMs;
    view.trial = true;
    return view;
  }

  snapshot(): RequestSnapshot {
    return this.request.snapshot;
  }

  /** What control asks is not traffic. */
  admitsInspection(): boolean {
    return true;
  }

  holdBody(): void {
    this.phases.bodyHeld(this.bodyLength);
  }

  takeBody(limitBytes: number): BodySnapshot | null {
    return snapshotOf(this.request.body, limitBytes);
  }

  route(): RouteResult {
    const { bytes, spans } = this.request.snapshot.head;
    const { pathStart, pathEnd } = this.request.head ?? headOf(spans);
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const choice = this.site?.routes?.choose(buffer, pathStart, pathEnd);
    if (choice === undefined) return 'routed';
    if (choice === null) return 'unrouted';
    return 'reason' in choice ? (choice as Refusal) : 'routed';
  }

  connect(): void {
    const { answer } = this.request;
    if (!this.inspectRest()) return;
    if (answer !== undefined && this.phases.inspects) this.phases.answerBegan(answer.head);
    else this.decided = true;
  }

  /** The windows over a long body, as live traffic has them; false where one ends the request. */
  private inspectRest(): boolean {
    const run = this.phases.bodyRest;
    const { body } = this.request;
    if (run === null || body === null) return true;
    let at = run.inspected;
    while (at < body.length && run.room > 0) {
      const end = Math.min(body.length, at + Math.min(run.room, run.pieceBytes));
      const piece = Buffer.from(body.subarray(at, end));
      const result = run.inspect(piece, end === body.length);
      if (result instanceof Promise) throw new Error('an inspector answered late');
      if (!this.phases.restDecided(result)) return false;
      at = end;
    }
    run.skip(body.length - at);
    return true;
  }

  holdAnswer(): void {
    this.phases.answerHeld(this.request.answer?.body?.length ?? 0);
  }

  takeAnswer(limitBytes: number): BodySnapshot | null {
    return snapshotOf(this.request.answer?.body ?? null, limitBytes);
  }

  releaseAnswer(): void {
    this.decided = true;
  }

  resumed(): void {
    throw new Error('a simulation never waits');
  }

  // ---- how it ends

  refuse(status: number, reason: string): void {
    this.end('refused', status, reason);
  }

  refuseAnswer(status: number, reason: string): void {
    this.end('refused', status, reason);
  }

  answerUnrouted(): void {
    this.siteAnswer = { name: 'unrouted', status: 404, location: '' };
    this.end('unrouted', 404, '');
  }

  answerUninspected(): void {
    this.end('inspection_failed', 503, '');
  }

  enforce(verdict: Verdict): void {
    this.verdict = verdict;
    this.end('blocked', verdict.status, '');
  }

  enforceGuard({ action, status, reason }: GuardVerdict): void {
    this.end(action === 'challenge' ? 'challenged' : 'blocked', status, reason);
  }

  private end(outcome: RequestOutcome, status: number, refusal: string): void {
    this.outcome = outcome;
    this.status = status;
    this.refusal = refusal;
    this.decided = true;
  }
}

function snapshotOf(body: Uint8Array | null, limitBytes: number): BodySnapshot | null {
  if (body === null) return null;
  return { bytes: body.subarray(0, limitBytes), truncated: body.length > limitBytes };
}

/** A target in origin form is what goes to the origin. */
function headOf(spans: Int32Array): ViewedHead {
  const [pathStart, pathEnd] = [spans[SPAN.secondStart]!, spans[SPAN.secondEnd]!];
  return { spans, fieldCount: spans[SPAN.fieldCount]!, pathStart, pathEnd };
}
