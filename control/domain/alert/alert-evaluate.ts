/**
 * Moves the alerts of a rule by what its condition finds: opens, fires, repeats, recovers. Decides
 * which messages are due and what timelines say; sends and stores nothing. Pure.
 */

import { alertLimits } from '../../limits/alert-limits.ts';
import type { AlertCondition } from './alert-condition.ts';
import type { AlertFinding, AlertMatch } from './alert-facts.ts';
import type {
  AlertNoteRecord,
  AlertRecord,
  AlertRuleRecord,
  AlertSilenceRecord,
} from './alert-records.ts';
import { silenceOf } from './alert-silence.ts';
import {
  alertTable,
  isLive,
  type AlertEvent,
  type AlertMove,
  type AlertState,
  type ClosedReason,
} from './alert-states.ts';

/** An entry for a timeline. */
export type NoteDraft = Pick<AlertNoteRecord, 'kind' | 'body' | 'actorUserId'>;

/** What becomes of one alert. */
export interface AlertChange {
  /** Null for one that opens. */
  readonly before: AlertRecord | null;
  readonly after: AlertRecord;
  readonly notes: readonly NoteDraft[];
  /** The message that is due; null for none. */
  readonly event: AlertEvent | null;
}

/** What moves of an alert depend on. */
export interface MoveContext {
  readonly silences: readonly AlertSilenceRecord[];
  readonly repeatSeconds: number;
  readonly nowMs: number;
}

/** What an evaluation works with. */
export interface EvaluationInput extends MoveContext {
  readonly rule: AlertRuleRecord;
  readonly condition: AlertCondition;
  /** Live alerts of the rule. */
  readonly live: readonly AlertRecord[];
  readonly finding: AlertFinding;
  /** Alerts that may still be opened. */
  readonly room: number;
  /** Id of an alert that opens. */
  readonly newId: () => string;
}

/** What an evaluation found. */
export interface Evaluation {
  readonly changes: readonly AlertChange[];
  /** Matches without an alert, because there are too many. */
  readonly notOpened: number;
}

/** Evaluates one rule. Alerts that nothing changes are not among the changes. */
export function evaluateRule(input: EvaluationInput): Evaluation {
  const { rule, condition, live, finding, nowMs, newId } = input;
  const matches = new Map(finding.matches.map((match) => [match.key, match]));
  const byKey = new Map(live.map((alert) => [alert.key, alert]));
  const changes: AlertChange[] = [];
  const opening: AlertMatch[] = [];
  for (const alert of live) {
    const match = matches.get(alert.key);
    if (match === undefined && finding.unknown(alert.key)) continue;
    if (match !== undefined && persists(alert, condition, nowMs)) {
      changes.push(moved(alert, 'persist', input)!);
      opening.push(match);
      continue;
    }
    const move = match === undefined ? 'clear' : isDue(alert, condition, nowMs) ? 'due' : 'match';
    const seen = match === undefined ? alert : seenAgain(alert, match, nowMs);
    const change = moved(seen, move, input);
    if (change !== null && differs(alert, change)) changes.push({ ...change, before: alert });
  }
  for (const match of matches.values()) if (!byKey.has(match.key)) opening.push(match);
  const room = Math.min(input.room, alertLimits.liveAlertsOfRuleMax - live.length);
  for (const match of opening.slice(0, Math.max(0, room))) {
    const alert = newAlert(rule, condition, match, newId(), nowMs);
    const change = moved(alert, condition.forSeconds === 0 ? 'due' : 'match', input)!;
    const note = system(`opened: ${match.subject}`);
    changes.push({ ...change, before: null, notes: [note, ...change.notes] });
  }
  return { changes, notOpened: Math.max(0, opening.length - Math.max(0, room)) };
}

/** An alert after a move; null where the table refuses it. `extra` comes first on its timeline. */
export function moved(
  alert: AlertRecord,
  move: AlertMove,
  context: MoveContext,
  extra: readonly NoteDraft[] = [],
): AlertChange | null {
  const step = alertTable[alert.state][move];
  if (step === null) return null;
  const now = new Date(context.nowMs).toISOString();
  const notes = [...extra];
  const due = messageIfDue(alert, step.does, context, notes);
  const reason = closedReasons[move];
  const closes = step.does.includes('close');
  const after: AlertRecord = {
    ...alert,
    ...due.change,
    state: step.to,
    ...(step.does.includes('fire') ? { firingAt: now } : {}),
    ...(move === 'ack' ? { ackedAt: now } : {}),
    ...(closes ? { resolvedAt: now, closedReason: reason ?? '' } : {}),
  };
  if (step.does.includes('fire')) notes.push(system('the condition holds: it fires'));
  if (closes && reason !== 'operator') notes.push(system(closedTexts[reason ?? 'operator']));
  if (alert.state.startsWith('closed') && step.to === 'resolved') {
    notes.push(system(move === 'persist' ? persistText : closedTexts[reason ?? 'operator']));
  }
  return { before: alert, after, notes, event: due.event };
}

/** Moves every live alert of a rule that changed, was disabled or removed. */
export function closeAlerts(
  live: readonly AlertRecord[],
  move: 'rule_changed' | 'rule_disabled' | 'rule_deleted',
  context: MoveContext,
): AlertChange[] {
  return live.filter(({ state }) => isLive(state)).map((alert) => moved(alert, move, context)!);
}

const closedReasons: Partial<Record<AlertMove, ClosedReason>> = {
  clear: 'condition_cleared',
  resolve: 'operator',
  rule_changed: 'rule_changed',
  rule_disabled: 'rule_disabled',
  rule_deleted: 'rule_deleted',
};

const closedTexts: Readonly<Record<ClosedReason, string>> = {
  condition_cleared: 'the condition no longer holds',
  operator: 'resolved by an operator',
  rule_changed: 'its rule was changed: what holds now opens a new alert',
  rule_disabled: 'its rule was disabled',
  rule_deleted: 'its rule was removed',
};
const persistText = 'the cause persists: a new alert is opened';

function system(body: string): NoteDraft {
  return { kind: 'system', body, actorUserId: '' };
}

interface DueMessage {
  readonly event: AlertEvent | null;
  readonly change: Partial<AlertRecord>;
}

/** The message that a move calls for, unless a silence keeps it quiet. */
function messageIfDue(
  alert: AlertRecord,
  does: readonly string[],
  { silences, repeatSeconds, nowMs }: MoveContext,
  notes: NoteDraft[],
): DueMessage {
  const now = new Date(nowMs).toISOString();
  const event = wanted(alert, does, repeatSeconds, nowMs);
  if (event === null) return { event, change: {} };
  const silence = silenceOf(silences, alert, nowMs);
  if (silence === null) {
    return { event, change: event === 'resolved' ? {} : { notifiedAt: now, silencedBy: '' } };
  }
  // Once a silence, and at the end: nobody hears of it otherwise.
  if (silence.id !== alert.silencedBy || event === 'resolved') {
    notes.push(system(`no ${event} message: silence ${silence.id} is in force`));
  }
  return { event: null, change: { silencedBy: silence.id } };
}

function wanted(
  { notifiedAt }: AlertRecord,
  does: readonly string[],
  repeatSeconds: number,
  nowMs: number,
): AlertEvent | null {
  if (does.includes('recover')) return notifiedAt === '' ? null : 'resolved';
  if (!does.includes('notify')) return null;
  if (notifiedAt === '') return 'firing';
  const repeats = repeatSeconds > 0 && nowMs - Date.parse(notifiedAt) >= repeatSeconds * 1000;
  return repeats ? 'repeat' : null;
}

function persists(
  { state, resolvedAt }: AlertRecord,
  { repeatSeconds }: AlertCondition,
  nowMs: number,
): boolean {
  if (state !== 'closed' && state !== 'closed_pending') return false;
  return repeatSeconds > 0 && nowMs - Date.parse(resolvedAt) >= repeatSeconds * 1000;
}

function isDue({ openedAt }: AlertRecord, { forSeconds }: AlertCondition, nowMs: number): boolean {
  return nowMs - Date.parse(openedAt) >= forSeconds * 1000;
}

/** What is written of a match that lasts: its time now and then, what it shows with it. */
function seenAgain(alert: AlertRecord, match: AlertMatch, nowMs: number): AlertRecord {
  if (nowMs - Date.parse(alert.lastMatchedAt) < alertLimits.matchedEveryMs) return alert;
  const lastMatchedAt = new Date(nowMs).toISOString();
  return { ...alert, lastMatchedAt, payload: match.payload, subject: match.subject };
}

function differs(alert: AlertRecord, { after, notes, event }: AlertChange): boolean {
  if (notes.length > 0 || event !== null || alert.state !== after.state) return true;
  return alert.lastMatchedAt !== after.lastMatchedAt || alert.silencedBy !== after.silencedBy;
}

function newAlert(
  rule: AlertRuleRecord,
  { kind }: AlertCondition,
  { key, siteId, agentId, subject, payload }: AlertMatch,
  id: string,
  nowMs: number,
): AlertRecord {
  const now = new Date(nowMs).toISOString();
  const state: AlertState = 'pending';
  const { tenantId, name, severity } = rule;
  return {
    ...{ id, tenantId, ruleId: rule.id, ruleName: name, kind, key, siteId, agentId, subject },
    ...{ severity, state, payload, openedAt: now, firingAt: '', ackedAt: '', resolvedAt: '' },
    ...{ lastMatchedAt: now, closedReason: '', notifiedAt: '', silencedBy: '', notes: 0 },
  };
}
