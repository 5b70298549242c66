/**
 * Stores what becomes of alerts, with their timelines and the messages that are due, in the
 * transaction of whoever decided it: a message is never decided on without its alert, and a kill
 * leaves both or none.
 */

import { styleOf, wantsSeverity } from '../domain/alert/alert-channel.ts';
import type { AlertChange, NoteDraft } from '../domain/alert/alert-evaluate.ts';
import { alertFacts, renderMessage } from '../domain/alert/alert-message.ts';
import type {
  AlertChannelRecord,
  AlertRecord,
  AlertRuleRecord,
} from '../domain/alert/alert-records.ts';
import type { AlertEvent } from '../domain/alert/alert-states.ts';
import { alertLimits } from '../limits/alert-limits.ts';
import {
  alertChannels,
  alertDeliveries,
  alertNotes,
  alerts,
  alertSilences,
} from '../store/collections.ts';
import type { ReadStore, WriteStore } from '../store/store.ts';

const digits = 12;

/** Id of an alert that opens; ids sort by time. */
export function nextAlertId(tx: WriteStore): string {
  return `alert-${numberText(tx.next('alerts'))}`;
}

/** Keeps changes of alerts of one rule. Returns the alerts as they are kept. */
export function keepChanges(
  tx: WriteStore,
  rule: AlertRuleRecord,
  changes: readonly AlertChange[],
  nowMs: number,
): AlertRecord[] {
  return changes.map(({ after, notes, event }) => {
    const drafts = [...notes];
    if (event !== null) drafts.push(...addDeliveries(tx, rule, after, event, nowMs));
    const kept = addNotes(tx, after, drafts, nowMs);
    tx.put(alerts, kept);
    return kept;
  });
}

/** Puts entries on the timeline of an alert. Returns the alert, which is not stored here. */
export function addNotes(
  tx: WriteStore,
  alert: AlertRecord,
  drafts: readonly NoteDraft[],
  nowMs: number,
): AlertRecord {
  let count = alert.notes;
  for (const draft of drafts) {
    // What people did is always kept; they can do little more than twice.
    if (count >= alertLimits.notesMax && draft.kind === 'system') continue;
    count++;
    const last = count === alertLimits.notesMax && draft.kind === 'system';
    const body = last
      ? 'the timeline is full: what the service does from here on is left out'
      : draft.body;
    const createdAt = new Date(nowMs).toISOString();
    const id = `${alert.id}-${numberText(count)}`;
    tx.put(alertNotes, { ...draft, id, alertId: alert.id, body, createdAt });
  }
  return count === alert.notes ? alert : { ...alert, notes: count };
}

/** Silences in force, and those to come: the evaluation looks at their time. */
export function silencesOf(store: ReadStore, tenantId: string) {
  return store.list(alertSilences).filter((one) => one.tenantId === tenantId);
}

/** Decides on a message to every channel that wants it; says on the timeline where it cannot go. */
function addDeliveries(
  tx: WriteStore,
  rule: AlertRuleRecord,
  alert: AlertRecord,
  event: AlertEvent,
  nowMs: number,
): NoteDraft[] {
  const channels = rule.channelIds
    .flatMap((id) => tx.get(alertChannels, id) ?? [])
    .filter(({ enabled, config }) => enabled && wantsSeverity(config, alert.severity));
  if (channels.length === 0)
    return [system(`no ${event} message: no channel of its rule wants it`)];
  return channels.flatMap((channel) => {
    if (tx.count(alertDeliveries, 'waiting', channel.id) >= alertLimits.waitingPerChannelMax) {
      return [system(`no ${event} message through ${channel.name}: too many wait for it`)];
    }
    addDelivery(tx, rule, alert, event, channel, nowMs);
    return [];
  });
}

function addDelivery(
  tx: WriteStore,
  rule: AlertRuleRecord,
  alert: AlertRecord,
  event: AlertEvent,
  channel: AlertChannelRecord,
  nowMs: number,
): void {
  const now = new Date(nowMs).toISOString();
  const text = renderMessage(alert, rule.notification ?? {}, event, styleOf(channel.config), nowMs);
  tx.put(alertDeliveries, {
    id: `delivery-${numberText(tx.next('alert-deliveries'))}`,
    tenantId: alert.tenantId,
    alertId: alert.id,
    channelId: channel.id,
    event,
    text,
    alert: alertFacts(alert, text),
    state: 'waiting',
    attempts: 0,
    createdAt: now,
    dueAt: now,
    error: '',
  });
}

function system(body: string): NoteDraft {
  return { kind: 'system', body, actorUserId: '' };
}

function numberText(number: number): string {
  return String(number).padStart(digits, '0');
}
