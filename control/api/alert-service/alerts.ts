/** AlertService/ListAlerts, AckAlert, ResolveAlert and ListAlertNotes. */

import { timestampMs, type Timestamp } from '@bufbuild/protobuf/wkt';
import {
  AlertSeverity,
  AlertSeveritySchema,
  AlertStatus,
  AlertStatusSchema,
  type AlertService,
  type ListAlertsRequest,
} from '../../../proto/gen/waf/v1/alert_pb.ts';
import { keepChanges, silencesOf } from '../../alert/keep-changes.ts';
import type { Caller } from '../../auth/permissions.ts';
import { alertTitle } from '../../domain/alert/alert-message.ts';
import { moved } from '../../domain/alert/alert-evaluate.ts';
import type { AlertRecord, AlertRuleRecord } from '../../domain/alert/alert-records.ts';
import { isActive, shownState } from '../../domain/alert/alert-states.ts';
import { invalidField, refusal } from '../../domain/errors.ts';
import { alertLimits } from '../../limits/alert-limits.ts';
import { alertNotes, alertRules, alerts } from '../../store/collections.ts';
import type { WriteStore } from '../../store/store.ts';
import { callerOf, type Uses } from '../context.ts';
import { fitsQuery, pageOf } from '../convert.ts';
import type { Method } from '../method.ts';
import { noteAction, stored } from '../resource/owned.ts';
import { alertKind, showAlert, showNote } from './stored.ts';

/** Lists alerts, newest first. */
export function listAlerts({ store }: Uses<'store'>): Method<typeof AlertService, 'listAlerts'> {
  return (request, context) => {
    const fits = filterOf(request, callerOf(context));
    const found: AlertRecord[] = [];
    for (const alert of store.walk(alerts, { reverse: true })) if (fits(alert)) found.push(alert);
    const { items, page } = pageOf(found, request.page);
    return { items: items.map(showAlert), page };
  };
}

/** Errors: invalid_argument for a request that cannot be. */
function filterOf(request: ListAlertsRequest, caller: Caller): (alert: AlertRecord) => boolean {
  const { status, severity, siteId, activeOnly, ruleId, query, start, end } = request;
  if (activeOnly && status !== AlertStatus.UNSPECIFIED) {
    throw invalidField('activeOnly', 'excludes status');
  }
  const startMs = timeOf(start, -Infinity);
  const endMs = timeOf(end, Infinity);
  if (endMs < startMs) throw invalidField('end', 'must not be before start');
  const statusName = AlertStatusSchema.value[status]?.name;
  const severityName = AlertSeveritySchema.value[severity]?.name;
  return (alert) => {
    const openedMs = Date.parse(alert.openedAt);
    return (
      alert.tenantId === caller.tenantId &&
      (!activeOnly || isActive(alert.state)) &&
      (status === AlertStatus.UNSPECIFIED || shownState(alert.state).status === statusName) &&
      (severity === AlertSeverity.UNSPECIFIED || alert.severity === severityName) &&
      (siteId === '' || alert.siteId === siteId) &&
      (ruleId === '' || alert.ruleId === ruleId) &&
      openedMs >= startMs &&
      openedMs < endMs &&
      (query.trim() === '' || fitsQuery(query, alertTitle(alert)))
    );
  };
}

function timeOf(time: Timestamp | undefined, absent: number): number {
  return time === undefined ? absent : timestampMs(time);
}

/** Acknowledges an open alert: nobody else needs to be told again. */
export function ackAlert(parts: Uses<'store' | 'clock'>): Method<typeof AlertService, 'ackAlert'> {
  return async ({ id, note }, context) => {
    const alert = await moveByHand(parts, callerOf(context), id, 'ack', note);
    return { alert: showAlert(alert) };
  };
}

/** Resolves an alert by hand. */
export function resolveAlert(
  parts: Uses<'store' | 'clock'>,
): Method<typeof AlertService, 'resolveAlert'> {
  return async ({ id, note }, context) => {
    const alert = await moveByHand(parts, callerOf(context), id, 'resolve', note);
    return { alert: showAlert(alert) };
  };
}

async function moveByHand(
  { store, clock }: Uses<'store' | 'clock'>,
  caller: Caller,
  id: string,
  move: 'ack' | 'resolve',
  text: string,
): Promise<AlertRecord> {
  const body = checkNote(text);
  return store.write((tx) => {
    const before = stored(tx, caller, alertKind, id, 'id');
    const nowMs = clock.nowMs();
    const entry = { kind: move, body, actorUserId: caller.userId };
    const around = { silences: silencesOf(tx, caller.tenantId), repeatSeconds: 0, nowMs };
    const change = moved(before, move, around, [entry]);
    if (change === null) throw refusal('failed_precondition', refusedText(before, move));
    const [after = before] = keepChanges(tx, ruleOf(tx, before), [change], nowMs);
    const said = { before: stateNote(before), after: stateNote(after) };
    noteAction(tx, caller, alertKind, before, move, said);
    return after;
  });
}

function refusedText({ state }: AlertRecord, move: 'ack' | 'resolve'): string {
  const word = isActive(state) ? 'acknowledged' : 'resolved';
  const wanted = move === 'ack' ? 'only an open alert' : 'only an open or acknowledged alert';
  return `id: the alert is ${word} already; ${wanted} can be ${move === 'ack' ? 'acknowledged' : 'resolved'}`;
}

/** The rule of an alert; alerts of rules that are gone have ended, and have no channels. */
function ruleOf(tx: WriteStore, alert: AlertRecord): AlertRuleRecord {
  const { ruleId: id, ruleName: name, severity, tenantId } = alert;
  const times = { createdAt: alert.openedAt, updatedAt: alert.openedAt };
  const gone = { id, name, severity, tenantId, enabled: false, expression: '', channelIds: [] };
  return tx.get(alertRules, id) ?? { ...gone, ...times };
}

function stateNote(alert: AlertRecord) {
  return { ...shownState(alert.state), closedReason: alert.closedReason };
}

/** Errors: invalid_argument at note. */
function checkNote(text: string): string {
  const body = text.trim();
  if (body.length <= alertLimits.noteCharsMax) return body;
  throw invalidField('note', `has at most ${alertLimits.noteCharsMax} characters`);
}

/** Lists the timeline of an alert, oldest first. */
export function listAlertNotes({
  store,
}: Uses<'store'>): Method<typeof AlertService, 'listAlertNotes'> {
  return ({ alertId }, context) => {
    const alert = stored(store, callerOf(context), alertKind, alertId, 'alertId');
    return { items: store.find(alertNotes, 'alert', alert.id).map(showNote) };
  };
}
