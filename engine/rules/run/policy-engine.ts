/**
 * One policy generation inside one thread: opens sessions, reuses their runners, and frees the
 * plan when the last session of a retired generation ends.
 */

import type { ProcessorReading } from '../../../base/body-family.ts';
import { poolLimits } from '../../base/limits.ts';
import { ruleRunLimits, valueLimits } from '../../../base/rule-limits.ts';
import type { Steps } from '../../../base/steps.ts';
import type { BodySnapshot, RequestSnapshot, ResponseSnapshot } from '../../contract/message.ts';
import type { InspectionSession, Inspector } from '../../contract/inspection.ts';
import { failureOf, inspectionFailed } from '../../contract/inspection-failure.ts';
import type { InspectionFailed, PhaseResult } from '../../contract/inspection-failure.ts';
import { passVerdict } from '../../contract/verdict.ts';
import type {
  BodyNeed,
  BodyRestNeed,
  InspectionFailure,
  TransactionRecord,
  Verdict,
} from '../../contract/verdict.ts';
import { forgetSearched } from '../../match/regex.ts';
import { saveCollections } from '../transaction/collections.ts';
import { loadRequestBody } from '../load/request-body.ts';
import { loadRequestHead } from '../load/request-head.ts';
import { loadResponseBody } from '../load/response-body.ts';
import { loadResponseHead } from '../load/response-head.ts';
import { workedUs, type RulePorts } from '../transaction/ports.ts';
import { maskSanitised, secretsOf } from '../transaction/report.ts';
import { selectUnicodeMap } from '../features/transformations/list.ts';
import type { Transaction } from '../transaction/transaction.ts';
import type { ProgramSettings, Rule } from '../transaction/types.ts';
import type { Detection } from '../../detect/detection.ts';
import { grpcReading } from '../features/bodies/grpc.ts';
import { clearBoundary } from '../features/bodies/multipart.ts';
import { detected } from '../features/operators/detected.ts';
import { SOURCE } from '../transaction/values.ts';
import type { RulePlan } from '../plan/rule-plan.ts';
import { IdleTransactions } from './idle-transactions.ts';
import { PhaseMemo } from './phase-memo.ts';
import { LinkEvaluators, Runner } from './runner.ts';
import { decideByScore, scoreRuleId, thresholdsOf, type Scoring } from './scored-decision.ts';

const noBody: BodyNeed = { inspect: false, limitBytes: 0, onExcess: 'prefix' };

/** An inspector with a life cycle; `retire` once no new sessions will be opened. */
export class PolicyEngine implements Inspector {
  readonly plan: RulePlan;
  readonly ports: RulePorts;
  /** Null where the anomaly score decides alone. */
  readonly scoring: Scoring | null;
  private readonly links: LinkEvaluators;
  private readonly memo: PhaseMemo;
  private readonly transactions: IdleTransactions;
  private readonly idle: Runner[] = [];
  private open_ = 0;
  private retired = false;

  /**
   * `transactions` are those of the thread; by default the engine has its own. `detection` is for
   * plans that ask for a score.
   */
  constructor(
    plan: RulePlan,
    ports: RulePorts,
    transactions = new IdleTransactions(),
    detection: Detection | null = null,
  ) {
    this.plan = plan;
    this.scoring = detection === null ? null : scoringOf(plan, detection);
    this.transactions = transactions;
    this.links = new LinkEvaluators(plan);
    this.ports = ports;
    this.memo = new PhaseMemo(plan, ports);
  }

  /** `recordOnly` turns an engine that acts into one that only records, for this transaction. */
  open(request: RequestSnapshot, recordOnly = false): RuleSession {
    const runner = this.idle.pop() ?? new Runner(this.plan, this.links, this.memo);
    this.open_++;
    runner.tx = this.transactions.take();
    try {
      runner.tx.begin(request, this.plan.settings, this.ports, this.plan.txBase);
    } catch (thrown) {
      this.release(runner);
      this.ports.reportFailure?.(thrown);
      throw thrown;
    }
    if (recordOnly && runner.tx.control.engine === 'on') runner.tx.control.engine = 'detectionOnly';
    runner.reset();
    return new RuleSession(this, runner);
  }

  /** Frees the plan as soon as the open sessions have finished. */
  retire(): void {
    this.retired = true;
    this.closeWhenIdle();
  }

  /** Called by a session that finished. */
  release(runner: Runner): void {
    this.open_--;
    this.transactions.giveBack(runner.tx);
    forgetSearched();
    if (this.idle.length < ruleRunLimits.idleRunnersMax) {
      runner.prescan.rest();
      this.idle.push(runner);
    } else runner.prescan.close();
    this.closeWhenIdle();
  }

  private closeWhenIdle(): void {
    if (!this.retired || this.open_ > 0) return;
    this.idle.length = 0;
    this.plan.close();
  }
}

/**
 * One transaction. All calls are synchronous; see the contract for their order. A phase that could
 * not be run to its end gives the reason; the record names the first one.
 */
export class RuleSession implements InspectionSession {
  bodyNeed: BodyNeed = noBody;
  responseNeed: BodyNeed = noBody;
  private readonly engine: PolicyEngine;
  private readonly runner: Runner;
  private verdict: Verdict = passVerdict;
  private inspectionUs = 0;
  private finished = false;
  private failure: InspectionFailure | null = null;
  /** Steps of a phase were begun and not run to their end. */
  private unfinished = false;

  constructor(engine: PolicyEngine, runner: Runner) {
    this.engine = engine;
    this.runner = runner;
  }

  /** State of the transaction, for tests. */
  get transaction(): Transaction {
    return this.runner.tx;
  }

  /** What the anomaly score would have done, where it waits for the score; null for nothing. */
  get anomaly(): Verdict | null {
    return this.runner.anomaly;
  }

  /** True where the verdict is that of the score. */
  get decidedByScore(): boolean {
    return this.verdict.ruleId === scoreRuleId;
  }

  requestHead(): PhaseResult {
    return this.timed(1, null, null);
  }

  requestBody(body: BodySnapshot | null): PhaseResult {
    return this.timed(2, body, null);
  }

  /**
   * As `requestBody`, in steps between which other sessions may have theirs: reading the body, one
   * scan each, visiting the rules. Who does not run all of them calls `finish`, which leaves out
   * the rest.
   */
  *requestBodyInSteps(body: BodySnapshot): Steps<PhaseResult> {
    const phase = this.bodyPhase(body);
    this.unfinished = true;
    for (;;) {
      const result = this.measured(() => phase.next());
      if ('action' in result) return result;
      if (result.done) {
        this.unfinished = false;
        return this.kept(result.value);
      }
      yield;
    }
  }

  private *bodyPhase(body: BodySnapshot): Steps<Verdict> {
    loadRequestBody(this.runner.tx, body);
    yield;
    return this.scored(yield* this.runner.runPhaseInSteps(2, poolLimits.stepBytes));
  }

  responseHead(response: ResponseSnapshot): PhaseResult {
    return this.timed(3, null, response);
  }

  responseBody(body: BodySnapshot | null): PhaseResult {
    return this.timed(4, body, null);
  }

  /** Ends the session without phase 5 and without a record; nothing of it is kept. */
  abandon(): void {
    if (this.unfinished) this.runner.prescan.skipRest(this.runner.tx);
    this.release();
  }

  finish(): TransactionRecord {
    const { tx } = this.runner;
    selectUnicodeMap(tx.settings.unicodeMap);
    if (this.unfinished) this.runner.prescan.skipRest(tx);
    const before = workedUs(this.engine.ports);
    // What was left of the time is for the phases that decide; logging gets its own.
    tx.deadlineUs = before + poolLimits.requestBudgetMs * 1000;
    // A window over a long body is a part of another session, which logs and counts the request.
    if (!tx.bodyRest) {
      try {
        this.runner.runPhase(5);
      } catch (thrown) {
        this.noteFailure(thrown);
      }
      saveCollections(tx);
    }
    this.inspectionUs += workedUs(this.engine.ports) - before;
    return this.observe();
  }

  /** Ends the session with its record and without phase 5: collections keep nothing of it. */
  observe(): TransactionRecord {
    const { tx, withheld } = this.runner;
    const enforced = this.verdict.action !== 'pass';
    const secrets = secretsOf(tx);
    const record: TransactionRecord = {
      verdict: enforced || withheld === null ? this.verdict : withheld,
      matchedRules: maskSanitised(tx),
      inboundScore: score(tx, 'blocking_inbound_anomaly_score', 'anomaly_score'),
      outboundScore: score(tx, 'blocking_outbound_anomaly_score', 'outbound_anomaly_score'),
      detectionOnly: !enforced && withheld !== null,
      inspectionUs: this.inspectionUs,
      ...(secrets.length === 0 ? {} : { secrets }),
      ...(tx.sanitised.length === 0 ? {} : { hidden: [...tx.sanitised] }),
      ...(tx.limitsReached.length === 0 ? {} : { limitsReached: [...tx.limitsReached] }),
      ...(tx.pcreLimitedRules.length === 0 ? {} : { pcreLimitedRules: tx.pcreLimitedRules }),
      ...(tx.valueSigns.length === 0 ? {} : { valueSigns: tx.valueSigns }),
      ...(this.failure === null ? {} : { failure: this.failure }),
    };
    this.release();
    return record;
  }

  private release(): void {
    if (this.finished) return;
    this.finished = true;
    this.engine.release(this.runner);
  }

  private step(
    phase: 1 | 2 | 3 | 4,
    body: BodySnapshot | null,
    response: ResponseSnapshot | null,
  ): Verdict {
    const { tx } = this.runner;
    if (phase === 1) loadRequestHead(tx);
    else if (phase === 2) loadRequestBody(tx, body);
    else if (phase === 3) loadResponseHead(tx, response!);
    else loadResponseBody(tx, body);
    const byRules = this.runner.runPhase(phase);
    const verdict = phase === 2 ? this.scored(byRules) : byRules;
    if (phase === 1) this.bodyNeed = requestNeed(tx);
    else if (phase === 3) this.responseNeed = responseNeed(tx);
    return verdict;
  }

  /** The last step of phase 2, where a policy asks for it and no rule has answered. */
  private scored(byRules: Verdict): Verdict {
    const { scoring } = this.engine;
    const { runner } = this;
    if (scoring === null || byRules.action !== 'pass' || !runner.inspectsContent) return byRules;
    const verdict = decideByScore(runner.tx, scoring, runner.anomaly);
    return verdict === null ? byRules : runner.enforce(verdict);
  }

  private timed(
    phase: 1 | 2 | 3 | 4,
    body: BodySnapshot | null,
    response: ResponseSnapshot | null,
  ): PhaseResult {
    const result = this.measured(() => this.step(phase, body, response));
    return result.action === 'failed' ? result : this.kept(result);
  }

  private kept(verdict: Verdict): Verdict {
    if (verdict.action !== 'pass') this.verdict = verdict;
    return verdict;
  }

  /** Runs a piece of work of this session within its time; what it throws is a failure. */
  private measured<T>(work: () => T): T | InspectionFailed {
    const { ports } = this.engine;
    const before = workedUs(ports);
    const { tx } = this.runner;
    // Other policies have their turns between the phases.
    selectUnicodeMap(tx.settings.unicodeMap);
    tx.deadlineUs = before + poolLimits.requestBudgetMs * 1000 - this.inspectionUs;
    try {
      return work();
    } catch (thrown) {
      return this.noteFailure(thrown);
    } finally {
      this.inspectionUs += workedUs(ports) - before;
    }
  }

  private noteFailure(thrown: unknown): InspectionFailed {
    const reason = failureOf(thrown);
    this.failure ??= reason;
    if (reason === 'internal' || reason === 'native') this.engine.ports.reportFailure?.(thrown);
    return inspectionFailed[reason];
  }
}

function scoringOf(plan: RulePlan, detection: Detection): Scoring | null {
  const { settings } = plan;
  if (settings.decision === 'crs') return null;
  const rules = plan.phases[2]!.items.filter(
    (item): item is Rule => item.kind === 'rule' && item.operator?.definition === detected,
  );
  const detectors = new Map(rules.map((rule) => [rule.id, rule]));
  const thresholds = thresholdsOf(settings, detection.weights.thresholds);
  return { detection, detectors, thresholds, decision: settings.decision };
}

/** What the body processors read a body as. */
const readingOf: Readonly<Record<string, ProcessorReading>> = {
  URLENCODED: 'form',
  MULTIPART: 'multipart',
  JSON: 'json',
  XML: 'xml',
};

function requestNeed(tx: Transaction): BodyNeed {
  const { settings, control } = tx;
  if (control.engine === 'off' || !control.requestBodyAccess) return noBody;
  const acts = control.engine === 'on';
  const partial = settings.requestBodyLimitAction === 'processPartial';
  const processor = control.requestBodyProcessor || tx.bodyProcessor;
  const readAs = readingOf[processor] ?? 'none';
  if (processor === 'MULTIPART' && settings.multipartBodyLimitBytes > 0) {
    if (partial && settings.requestBodyExcessAction !== 'block') return observedFormNeed(tx, acts);
    const limitBytes = settings.multipartBodyLimitBytes;
    if (limitBytes > valueLimits.multipartHeldBytesMax) return longFormNeed(tx, acts);
    if (acts) return { inspect: true, limitBytes, onExcess: 'reject', readAs };
    return {
      inspect: true,
      limitBytes,
      onExcess: 'prefix',
      readAs,
      rest: nothingAfter(limitBytes),
    };
  }
  if (!partial && acts) {
    const limitBytes = rejectingLimitBytes(settings, processor);
    return { inspect: true, limitBytes, onExcess: 'reject', readAs };
  }
  const { requestBodyLimitBytes, requestBodyExcessBytes } = settings;
  // Who only records sees past the limit that would reject, and holds no more than others do.
  const limitBytes = partial
    ? requestBodyLimitBytes + requestBodyExcessBytes
    : Math.min(
        requestBodyLimitBytes,
        rejectingLimitBytes(settings, processor) + valueLimits.bodyExcessBytesMax,
      );
  const rest = partial ? restNeed(tx, limitBytes) : nothingAfter(limitBytes);
  return { inspect: true, limitBytes, onExcess: 'prefix', readAs, rest };
}

/** The content of its files is not held, so that its size is no matter of memory. */
function longFormNeed(tx: Transaction, acts: boolean): BodyNeed {
  const files = { ...filesNeed(tx, acts), stops: !acts, inspectedBytes: Infinity };
  const rest = { acts, limitBytes: tx.settings.multipartBodyLimitBytes, files };
  const limitBytes = valueLimits.multipartHeldBytesMax;
  return { inspect: true, limitBytes, onExcess: 'prefix', readAs: 'multipart', rest };
}

/** The limit of the body decides what blocks, as for other bodies; uploads keep their limits. */
function observedFormNeed(tx: Transaction, acts: boolean): BodyNeed {
  const { settings } = tx;
  const { requestBodyLimitBytes: limitBytes, requestBodyInspectionLimitBytes } = settings;
  const recorded = settings.requestBodyExcessAction === 'record';
  const inspectedBytes = recorded ? requestBodyInspectionLimitBytes || Infinity : limitBytes;
  const files = { ...filesNeed(tx, acts), stops: true, inspectedBytes };
  const rest = { acts: false, limitBytes: settings.multipartBodyLimitBytes, files };
  return { inspect: true, limitBytes, onExcess: 'prefix', readAs: 'multipart', rest };
}

function filesNeed(tx: Transaction, refuses: boolean) {
  const held = valueLimits.multipartHeldBytesMax;
  const fields = Math.min(held, tx.settings.requestBodyNoFilesLimitBytes || held);
  const keptBytesMax = fields + valueLimits.fileHeadsBytesMax + valueLimits.bodyExcessBytesMax;
  return { boundary: clearBoundary(tx), keptBytesMax, refuses };
}

/** What is inspected after the part that is held. */
function restNeed(tx: Transaction, held: number): BodyRestNeed {
  const { settings, control } = tx;
  const { requestBodyExcessAction, requestBodyInspectionLimitBytes } = settings;
  if (requestBodyExcessAction === 'off') return nothingAfter(held);
  const limitBytes = requestBodyInspectionLimitBytes || Infinity;
  const acts = requestBodyExcessAction === 'block' && control.engine === 'on';
  const grpc = grpcReading(tx);
  return { acts, limitBytes, ...(grpc !== null && { grpc }) };
}

/** What follows is counted. */
function nothingAfter(limitBytes: number): BodyRestNeed {
  return { acts: false, limitBytes };
}

/** The limit for bodies without files is known from the head: none is held that is refused then. */
function rejectingLimitBytes(settings: ProgramSettings, processor: string): number {
  const { requestBodyLimitBytes, requestBodyNoFilesLimitBytes } = settings;
  if (processor === 'MULTIPART' || requestBodyNoFilesLimitBytes <= 0) return requestBodyLimitBytes;
  return Math.min(requestBodyLimitBytes, requestBodyNoFilesLimitBytes);
}

function responseNeed(tx: Transaction): BodyNeed {
  const { settings, control, response } = tx;
  if (control.engine === 'off' || !control.responseBodyAccess || response === null) return noBody;
  const type = mediaType(tx);
  if (!settings.responseBodyMimeTypes.includes(type)) return noBody;
  const reject = settings.responseBodyLimitAction === 'reject' && control.engine === 'on';
  return {
    inspect: true,
    limitBytes: settings.responseBodyLimitBytes,
    onExcess: reject ? 'reject' : 'prefix',
  };
}

/** Media type of the answer in lower case, without parameters; empty when it states none. */
function mediaType(tx: Transaction): string {
  const { values } = tx;
  for (const row of values.rowsOf(SOURCE.responseHeader)) {
    if (values.key(row).toLowerCase() !== 'content-type') continue;
    return values.value(row).split(';', 1)[0]!.trim().toLowerCase();
  }
  return '';
}

function score(tx: Transaction, name: string, fallback: string): number {
  const text = tx.tx.get(name) ?? tx.tx.get(fallback);
  return text === undefined ? 0 : Number.parseInt(text, 10) || 0;
}
