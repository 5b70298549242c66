/**
 * Evaluates rules at regular times. What it finds is stored with how far it looked, in one
 * transaction: after a kill it looks again from there, so that nothing is lost or opened twice.
 */

import type { Clock } from '../../base/clock.ts';
import { toAppError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { readCondition, type AlertCondition } from '../domain/alert/alert-condition.ts';
import { evaluateRule, type AlertChange } from '../domain/alert/alert-evaluate.ts';
import type { AlertFactSet, AlertFinding } from '../domain/alert/alert-facts.ts';
import { findMatches } from '../domain/alert/alert-matches.ts';
import { alertProgressId, type AlertRuleRecord } from '../domain/alert/alert-records.ts';
import { alertLimits } from '../limits/alert-limits.ts';
import type { CounterStore } from '../observe/counter-store.ts';
import { alertNotes, alertProgress, alertRules, alerts } from '../store/collections.ts';
import { ownDuties, type Duties } from '../store/duties.ts';
import type { ReadStore, Store, WriteStore } from '../store/store.ts';
import { keepChanges, nextAlertId, silencesOf } from './keep-changes.ts';

/** Facts of one tenant, but for the counts. */
export type FactsOf = (tenantId: string) => Omit<AlertFactSet, 'counts' | 'countsFromMs' | 'nowMs'>;

/** What the evaluator works with. */
export interface EvaluatorParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly counters: Pick<CounterStore, 'alertCounts' | 'countsMark' | 'countsEvaluated'>;
  readonly facts: FactsOf;
  readonly duties?: Duties;
}

/** Evaluates until it is closed. */
export interface Evaluator {
  /** Evaluates every rule once. Never rejects. */
  evaluate(): Promise<void>;
  close(): Promise<void>;
}

/** Starts to evaluate; with `everyMs` 0 only when asked. */
export function startEvaluator(
  parts: EvaluatorParts,
  everyMs: number = alertLimits.evaluateEveryMs,
): Evaluator {
  const { duties = ownDuties(parts.store) } = parts;
  let known: { readonly store: Store; readonly round: Round } | null = null;
  const evaluateOnce = async (): Promise<void> => {
    const store = await duties.begin();
    if (store === null) return;
    // Others may have evaluated since a round of an earlier term.
    if (known?.store !== store) known = { store, round: new Round({ ...parts, store }) };
    await known.round.run();
  };
  let running: Promise<void> = Promise.resolve();
  const evaluate = (): Promise<void> => (running = running.then(evaluateOnce));
  let waiting = false;
  const tick = (): void => {
    if (waiting) return;
    waiting = true;
    void evaluate().finally(() => (waiting = false));
  };
  const timer = everyMs === 0 ? null : setInterval(tick, everyMs).unref();
  return {
    evaluate,
    close: async () => {
      if (timer !== null) clearInterval(timer);
      await running;
    },
  };
}

/** A rule with what its condition found. */
interface Found {
  readonly rule: AlertRuleRecord;
  readonly condition: AlertCondition;
  readonly finding: AlertFinding;
}

/** One round after the other; never two at once. */
class Round {
  readonly #parts: EvaluatorParts;
  #progressWrittenMs = 0;
  #evaluatedToMs = -1;
  #countsSeen = -1;
  #notOpened = 0;

  constructor(parts: EvaluatorParts) {
    this.#parts = parts;
  }

  async run(): Promise<void> {
    try {
      await this.#evaluate();
    } catch (error) {
      this.#parts.logger.error('alert rules could not be evaluated; the next round tries again', {
        reason: toAppError(error).message,
      });
    }
  }

  async #evaluate(): Promise<void> {
    const { store, clock, counters } = this.#parts;
    const nowMs = clock.nowMs();
    this.#readProgress(store, nowMs);
    const mark = counters.countsMark();
    const late = mark.number === this.#countsSeen ? nowMs : mark.fromMs;
    const fromMs = Math.max(Math.min(this.#evaluatedToMs, late), nowMs - alertLimits.lookBackMs);
    const found = this.#find(store, fromMs, nowMs);
    const anything = this.#changes(store, found, nowMs, () => '').length > 0;
    const progressDue = nowMs - this.#progressWrittenMs >= alertLimits.progressEveryMs;
    if (anything || progressDue) {
      await store.write((tx) => {
        const changes = this.#changes(tx, found, nowMs, () => nextAlertId(tx));
        for (const [rule, ofRule] of changes) keepChanges(tx, rule, ofRule, nowMs);
        tx.put(alertProgress, {
          ...{ id: alertProgressId, evaluatedToMs: nowMs, countsSeen: mark.number },
        });
        if (progressDue) forgetEnded(tx, nowMs);
      });
      this.#progressWrittenMs = nowMs;
    }
    this.#evaluatedToMs = nowMs;
    if (mark.number !== this.#countsSeen) await counters.countsEvaluated(mark);
    this.#countsSeen = mark.number;
  }

  /** How far an earlier process came; a first start looks at what is there from now on. */
  #readProgress(store: ReadStore, nowMs: number): void {
    if (this.#evaluatedToMs >= 0) return;
    const kept = store.get(alertProgress, alertProgressId);
    this.#evaluatedToMs = Math.min(kept?.evaluatedToMs ?? nowMs, nowMs);
    this.#countsSeen = kept?.countsSeen ?? this.#parts.counters.countsMark().number;
  }

  #find(store: ReadStore, fromMs: number, nowMs: number): Found[] {
    const rules = store.list(alertRules).filter(({ enabled }) => enabled);
    const read = rules.map((rule) => ({
      rule,
      condition: readCondition(rule.expression, 'expression'),
    }));
    const tenants = [...new Set(rules.map(({ tenantId }) => tenantId))];
    return tenants.flatMap((tenantId) => {
      const ofTenant = read.filter(({ rule }) => rule.tenantId === tenantId);
      const facts = this.#parts.facts(tenantId);
      const windowMs = 1000 * longestWindow(ofTenant.map(({ condition }) => condition));
      const startMs = fromMs - windowMs - alertLimits.countStepMs;
      const counts =
        windowMs === 0 ? [] : this.#parts.counters.alertCounts(tenantId, startMs, nowMs);
      const whole = { ...facts, counts, countsFromMs: fromMs, nowMs };
      return ofTenant.map((one) => ({ ...one, finding: findMatches(one.condition, whole) }));
    });
  }

  /** What changes, by rule; rules are read anew, for operators may have changed them meanwhile. */
  #changes(
    store: ReadStore,
    found: readonly Found[],
    nowMs: number,
    newId: () => string,
  ): (readonly [AlertRuleRecord, readonly AlertChange[]])[] {
    let notOpened = 0;
    let room = alertLimits.alertsMax - store.count(alerts);
    const changes = found.flatMap(({ rule: read, condition, finding }) => {
      const rule = store.get(alertRules, read.id);
      if (rule === undefined || !rule.enabled || rule.expression !== read.expression) return [];
      const result = evaluateRule({
        ...{ rule, condition, finding, nowMs, newId, room },
        live: store.find(alerts, 'live', rule.id),
        silences: silencesOf(store, rule.tenantId),
        repeatSeconds: condition.repeatSeconds,
      });
      notOpened += result.notOpened;
      room -= result.changes.filter(({ before }) => before === null).length;
      return result.changes.length === 0 ? [] : [[rule, result.changes] as const];
    });
    this.#sayNotOpened(notOpened);
    return changes;
  }

  #sayNotOpened(count: number): void {
    if (count > this.#notOpened) {
      this.#parts.logger.warn('alerts were not opened, because there are too many', { count });
    }
    this.#notOpened = count;
  }
}

function longestWindow(conditions: readonly AlertCondition[]): number {
  const windows = conditions.map(({ kind, windowSeconds }) =>
    kind === 'security_threshold' ? windowSeconds : 0,
  );
  return Math.max(0, ...windows);
}

/** Removes alerts that ended long ago, or too many, with their timelines. */
function forgetEnded(tx: WriteStore, nowMs: number): void {
  const before = new Date(nowMs - alertLimits.endedAlertsKeptMs).toISOString();
  // Room for one round of openings.
  const tooMany = tx.count(alerts) - (alertLimits.alertsMax - alertLimits.liveAlertsOfRuleMax);
  let removed = 0;
  const limit = Math.max(alertLimits.forgottenPerRound, tooMany);
  for (const alert of [...tx.walkIndex(alerts, 'ended', { limit })]) {
    if (alert.resolvedAt >= before && removed >= tooMany) break;
    for (const note of tx.find(alertNotes, 'alert', alert.id)) tx.remove(alertNotes, note.id);
    tx.remove(alerts, alert.id);
    removed++;
  }
}
