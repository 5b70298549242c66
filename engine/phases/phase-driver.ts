/**
 * The course of one request: it carries out the steps of the phase table, for live traffic, for
 * TestPolicy and for the corpus runners alike, and decides what guards, verdicts, failed
 * inspections and bounds lead to. Never touches a socket: that is the host's.
 */

import type { GuardName, GuardNote, GuardTraceEntry, GuardVerdict } from '../contract/guard.ts';
import type { PhaseResult } from '../contract/inspection-failure.ts';
import type { BodySnapshot, ResponseSnapshot } from '../contract/message.ts';
import type { BodyNeed, TransactionRecord } from '../contract/verdict.ts';
import {
  unguarded,
  type GuardChain,
  type GuardFaults,
  type GuardOutcome,
} from '../guard/guard-chain.ts';
import { rateFieldLines } from '../guard/rate-fields.ts';
import { REFUSAL } from '../http/refusal.ts';
import type { LearningRun } from '../schema/learning/learning-run.ts';
import type { SiteChecks } from '../schema/site-checks.ts';
import type { BodyRestRun } from './body-rest-run.ts';
import { InspectionRun } from './inspection-run.ts';
import type { PhaseHost, PhaseSite } from './phase-host.ts';
import { EVENT, nextState, STATE, type PhaseEvent, type PhaseState } from './phase-table.ts';
import { SchemaRun } from './schema-run.ts';

/** A step waits for something. */
const waits = -1;

/** One request; see the header. */
export class PhaseDriver implements GuardFaults {
  /** What guards said, in order. */
  notes: readonly GuardNote[] = unguarded.notes;
  /** A guard had the request skip the inspection by rules. */
  bypassed = false;
  /** Lines of the answer on rate limits, with their ends; '' for none. */
  rateLines = '';
  /** Lines for the origin that a guard vouches for, with their ends; '' for none. */
  grantedLines = '';
  /** What the request teaches; null for nothing. */
  lesson: LearningRun | null = null;
  private readonly host: PhaseHost;
  private readonly inspection = new InspectionRun();
  /** Null where the site has no API document. */
  private checks: SchemaRun | null = null;
  private state: PhaseState = STATE.HEAD;
  /** True while a step is carried out. */
  private stepping = false;
  /** What came while one was: `waits` for nothing. */
  private early: number = waits;
  private site: PhaseSite | null = null;
  private body: BodySnapshot | null = null;
  private answer: ResponseSnapshot | null = null;
  private rest: BodyRestRun | null = null;

  constructor(host: PhaseHost) {
    this.host = host;
  }

  /** True while phases are still to be run. */
  get inspects(): boolean {
    return this.inspection.active;
  }

  /** What is needed of the request body. */
  get bodyNeed(): BodyNeed {
    const need = this.inspection.bodyNeed;
    return this.checks === null ? need : this.checks.joined(need);
  }

  /** What the rules need of the answer's body. */
  get answerNeed(): BodyNeed {
    return this.inspection.responseNeed;
  }

  /** Begins; `site` answers for the host of the request, null for none. */
  start(site: PhaseSite | null): void {
    this.site = site;
    this.proceed(this.admit());
  }

  /** The host holds all of the body, or more than is needed. */
  bodyHeld(heldBytes: number): void {
    this.checks?.take(this.host, heldBytes);
    this.lesson?.take(this.host, heldBytes, heldBytes <= this.bodyNeed.limitBytes);
    if (this.state === STATE.CHECKED_BODY) return this.proceed(EVENT.READY);
    const { limitBytes, onExcess } = this.inspection.bodyNeed;
    if (heldBytes > limitBytes && onExcess === 'reject') {
      this.host.refuse(413, overInspectionLimit);
      return this.proceed(EVENT.STOP);
    }
    this.body = this.host.takeBody(limitBytes);
    if (this.body !== null) this.rest = this.inspection.restAfter(this.body);
    if (this.rest !== null) this.body = this.rest.first;
    this.proceed(EVENT.READY);
  }

  /** What inspects the body after what was held; null for nothing, or nothing any more. */
  get bodyRest(): BodyRestRun | null {
    return this.inspection.active ? this.rest : null;
  }

  /** What came of a window over the rest of the body; false where the request ends with it. */
  restDecided(result: PhaseResult): boolean {
    if (this.host.ended) return false;
    if (this.rest?.refuses === true) {
      this.inspection.active = false;
      this.host.refuse(413, overInspectionLimit);
      return false;
    }
    if (result.action === 'pass' || this.rest?.enforces(result) !== true) return true;
    return this.decide(result) !== EVENT.STOP;
  }

  /** The head of the origin's answer is here. Only while `inspects`. */
  answerBegan(answer: ResponseSnapshot): void {
    this.answer = answer;
    this.proceed(EVENT.READY);
  }

  /** The host holds all of the answer, or more than the rules take. */
  answerHeld(heldBytes: number): void {
    const { limitBytes, onExcess } = this.inspection.responseNeed;
    if (heldBytes > limitBytes && onExcess === 'reject') {
      this.host.refuseAnswer(502, answerOverInspectionLimit);
      return this.proceed(EVENT.STOP);
    }
    this.body = this.host.takeAnswer(limitBytes);
    this.proceed(EVENT.READY);
  }

  /** Phase 5; see `InspectionRun.finish`. The host calls it once, on every path. */
  finish(done: (record: TransactionRecord | null) => void): boolean {
    this.state = STATE.ENDED;
    this.early = waits;
    const found = this.checks?.finish(this.host.guardTrace) ?? [];
    if (found.length > 0) this.notes = [...this.notes, ...found.map(noteOf)];
    const { rest } = this;
    if (rest === null) return this.inspection.finish(done);
    return this.inspection.finish((record) => done(record && rest.completed(record)));
  }

  /**
   * The one place that feeds the table: walks it until a step waits. What a host reports while it
   * carries out a step is taken when that step is over, so that no step runs within another.
   */
  private proceed(event: PhaseEvent): void {
    if (this.stepping) {
      this.early = event;
      return;
    }
    this.stepping = true;
    let next: number = event;
    while (next !== waits) {
      this.state = nextState(this.state, next as PhaseEvent);
      next = this.carryOut(this.state);
      if (next === waits) next = this.early;
      this.early = waits;
    }
    this.stepping = false;
  }

  /** Does what a state asks for; gives what came of it, or `waits`. */
  private carryOut(state: PhaseState): number {
    const { host } = this;
    switch (state) {
      case STATE.GUARDS:
        return this.askGuards();
      case STATE.REQUEST_HEAD:
        return this.runPhase(1, null);
      case STATE.BODY_NEED:
        return this.needBody();
      case STATE.BODY:
        host.holdBody();
        return waits;
      case STATE.REQUEST_BODY:
        return this.runPhase(2, this.takeBody());
      case STATE.CHECK_NEED:
        return this.needCheckedBody();
      case STATE.CHECKED_BODY:
        host.holdBody();
        return waits;
      case STATE.CHECK:
        return this.checkBody();
      case STATE.HEAD_REFUSAL:
        return this.refuseHead();
      case STATE.ROUTE:
        return this.route();
      case STATE.ORIGIN:
        host.connect();
        return waits;
      case STATE.RESPONSE_HEAD:
        return this.runPhase(3, null);
      case STATE.ANSWER_NEED:
        return this.inspection.responseNeed.inspect && host.answerHasBody ? EVENT.HOLD : EVENT.PASS;
      case STATE.ANSWER:
        host.holdAnswer();
        return waits;
      case STATE.RESPONSE_BODY:
        return this.runPhase(4, this.takeBody());
      case STATE.RELEASE:
        host.releaseAnswer();
        return waits;
      default:
        return waits;
    }
  }

  /** Before anything is decided about the content: is there a site, and can its body be taken? */
  private admit(): PhaseEvent {
    const { host } = this;
    if (host.bodyLength > host.bodyBytesMax) {
      host.refuse(REFUSAL.bodyTooLarge.status, REFUSAL.bodyTooLarge.reason);
    } else if (this.site !== null) return EVENT.PASS;
    else this.answerUnrouted();
    return EVENT.STOP;
  }

  private askGuards(): number {
    const { guards } = this.site!;
    if (guards === null) return this.passGuards(unguarded);
    const walked = this.walk(guards);
    if (walked === null) return EVENT.STOP;
    return walked.verdict === null ? this.passGuards(walked) : waits;
  }

  /** No guard answers. */
  private passGuards(outcome: GuardOutcome): PhaseEvent {
    const { inspector, schema = null, learning = null } = this.site!;
    if (schema !== null && outcome.skipsSchema) this.host.guardTrace?.push(skippedChecks);
    else if (schema !== null && !this.admits(schema)) return EVENT.STOP;
    if (learning !== null) this.lesson = learning.begin(this.host.view(), this.host.hasBody);
    this.bypassed = outcome.skipsWaf;
    if (inspector === null || outcome.skipsWaf) return EVENT.UNINSPECTED;
    if (!this.host.admitsInspection()) {
      this.inspection.shed();
      return this.continuesUninspected() ? EVENT.UNINSPECTED : EVENT.STOP;
    }
    this.inspection.open(inspector, this.host.snapshot());
    return EVENT.PASS;
  }

  /**
   * Null when a guard answered, or failed and the site's fail policy is `closed`; with a verdict
   * while what becomes of that is not known.
   */
  private walk(guards: GuardChain): GuardOutcome | null {
    const { host } = this;
    const view = host.view();
    const outcome = guards.walk(view, host.guardTrace, this);
    if (outcome === null) {
      host.answerUninspected();
      return null;
    }
    this.rateLines = rateFieldLines(view.rateStandings);
    this.notes = outcome.notes;
    if (outcome.verdict === null) return outcome;
    const { later } = outcome.verdict;
    if (later === undefined) host.enforceGuard(outcome.verdict);
    else {
      void later.then(
        (verdict) => this.settle(verdict, outcome),
        (thrown: unknown) => {
          // What cannot be checked is not let in.
          this.inspection.fail(thrown);
          this.settle(outcome.verdict, outcome);
        },
      );
    }
    return later === undefined ? null : outcome;
  }

  /**
   * The fail policy is about protection: `open` leaves out the guard that failed, never those after
   * it, and nobody is let in whose password was not checked.
   */
  guardFailed(name: GuardName, thrown: unknown): boolean {
    this.inspection.fail(thrown);
    return name !== 'auth' && this.site!.site.waf.failPolicy === 'open';
  }

  /** What a guard's verdict came to; null or a bypass where the request continues. */
  private settle(verdict: GuardVerdict | null, outcome: GuardOutcome): void {
    if (this.host.ended) return;
    const earlier = this.notes.slice(0, -1);
    if (verdict === null || verdict.action === 'bypass') {
      this.notes = earlier;
      this.grantedLines = verdict?.originLines ?? '';
      this.proceed(this.passGuards(outcome));
    } else {
      this.notes = [...earlier, noteOf(verdict)];
      this.host.enforceGuard(verdict);
      this.proceed(EVENT.STOP);
    }
    if (!this.host.ended) this.host.resumed();
  }

  /** False when an API document refuses the head, or its checks failed and the site is closed. */
  private admits(schema: SiteChecks): boolean {
    const { host } = this;
    const failOpen = this.site!.site.waf.failPolicy === 'open';
    this.checks = new SchemaRun();
    try {
      const verdict = this.checks.begin(schema, host.view(), host.hasBody, failOpen);
      if (verdict === null) return true;
      host.enforceGuard(verdict);
      return false;
    } catch (thrown) {
      this.inspection.fail(thrown);
      return this.continuesUninspected();
    }
  }

  private needCheckedBody(): PhaseEvent {
    const { checks, host } = this;
    if (checks === null) return EVENT.PASS;
    const { readAs } = this.inspection.bodyNeed;
    const verdict = readAs === undefined || !host.hasBody ? null : checks.takeReading(readAs);
    if (verdict !== null) {
      host.enforceGuard(verdict);
      return EVENT.STOP;
    }
    if (checks.bodyBytes === 0) return EVENT.PASS;
    if (checks.ready) return EVENT.READY;
    if (host.bodyLength <= checks.bodyBytes) return EVENT.HOLD;
    checks.take(host, host.bodyLength);
    return EVENT.READY;
  }

  /** After the rules: what they refuse is theirs. */
  private checkBody(): PhaseEvent {
    try {
      const verdict = this.checks!.check();
      if (verdict === null) return EVENT.PASS;
      this.host.enforceGuard(verdict);
    } catch (thrown) {
      this.inspection.fail(thrown);
      if (this.continuesUninspected()) return EVENT.PASS;
    }
    return EVENT.STOP;
  }

  private runPhase(phase: number, body: BodySnapshot | null): number {
    const result = this.inspection.call(phase, body, this.answer);
    if (!(result instanceof Promise)) return this.decide(result);
    void result.then((settled) => this.resume(settled));
    return waits;
  }

  private resume(result: PhaseResult): void {
    if (this.host.ended) return;
    const event = this.decide(result);
    this.proceed(event);
    if (!this.host.ended) this.host.resumed();
  }

  /** What a phase leads to, in every mode. */
  private decide(result: PhaseResult): PhaseEvent {
    if (result.action === 'pass') return EVENT.PASS;
    this.inspection.active = false;
    if (result.action === 'failed') {
      return this.continuesUninspected() ? EVENT.UNINSPECTED : EVENT.STOP;
    }
    if (this.site!.site.waf.mode !== 'blocking') return EVENT.UNINSPECTED;
    this.host.enforce(result);
    return EVENT.STOP;
  }

  /**
   * What a failed inspection leads to, wherever it ran, whatever failed, and in every mode:
   * `closed` answers 503, `open` continues without inspection.
   */
  private continuesUninspected(): boolean {
    if (this.site!.site.waf.failPolicy === 'open') return true;
    this.host.answerUninspected();
    return false;
  }

  private needBody(): PhaseEvent {
    const { host } = this;
    const { inspect, limitBytes, onExcess, rest } = this.inspection.bodyNeed;
    if (!host.hasBody || !inspect) return EVENT.PASS;
    const refusesAfter = rest?.files?.refuses === true ? rest.limitBytes : Infinity;
    const bytesMax = onExcess === 'prefix' ? refusesAfter : limitBytes;
    if (host.bodyLength <= bytesMax) return EVENT.HOLD;
    host.refuse(413, overInspectionLimit);
    return EVENT.STOP;
  }

  private refuseHead(): PhaseEvent {
    const { headRefusal } = this.host;
    if (headRefusal === null) return EVENT.PASS;
    this.host.refuse(headRefusal.status, headRefusal.reason);
    return EVENT.STOP;
  }

  private route(): PhaseEvent {
    const result = this.host.route();
    if (result === 'routed') return EVENT.PASS;
    if (result === 'unrouted') this.answerUnrouted();
    else this.host.refuse(result.status, result.reason);
    return EVENT.STOP;
  }

  private answerUnrouted(): void {
    const { headRefusal } = this.host;
    if (headRefusal === null) this.host.answerUnrouted();
    else this.host.refuse(headRefusal.status, headRefusal.reason);
  }

  private takeBody(): BodySnapshot | null {
    const { body } = this;
    this.body = null;
    return body;
  }
}

/** A guard before the checks of API documents has the request skip them. */
const skippedChecks: GuardTraceEntry = { guard: 'schema', saw: '', verdict: null, skipped: true };

function noteOf({ guard, action, reason, ruleId, detail, finding }: GuardVerdict): GuardNote {
  return { guard, action, reason, ruleId, detail, skipped: [], ...(finding && { finding }) };
}

const overInspectionLimit = 'body_over_inspection_limit';
const answerOverInspectionLimit = 'response_over_inspection_limit';
