/** Finds rules, channels, alerts and silences for a caller, and how answers show them. */

import {
  AlertChannelSchema,
  AlertNoteSchema,
  AlertRuleSchema,
  AlertSchema,
  AlertSilenceSchema,
  type Alert,
  type AlertChannel,
  type AlertNote,
  type AlertRule,
  type AlertSilence,
} from '../../../proto/gen/waf/v1/alert_pb.ts';
import type { Caller } from '../../auth/permissions.ts';
import { alertTitle, renderMessage, standardStyle } from '../../domain/alert/alert-message.ts';
import type {
  AlertChannelRecord,
  AlertNoteRecord,
  AlertRecord,
  AlertRuleRecord,
  AlertSilenceRecord,
} from '../../domain/alert/alert-records.ts';
import { shownState } from '../../domain/alert/alert-states.ts';
import { notFound } from '../../domain/errors.ts';
import {
  alertChannels,
  alertChannelStates,
  alertDeliveries,
  alertRules,
  alerts,
  alertSilences,
  type Collection,
} from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';
import { actorNote } from '../context.ts';
import { requireText, toMessage } from '../convert.ts';

interface Owned {
  readonly id: string;
  readonly tenantId: string;
}

function owned<T extends Owned>(collection: Collection<T>, kind: string) {
  return (store: ReadStore, caller: Caller, id: string, field: string): T => {
    const found = store.get(collection, requireText(id, field));
    if (found === undefined || found.tenantId !== caller.tenantId) throw notFound(kind, id);
    return found;
  };
}

/** A rule. Errors: invalid_argument at the field, not_found. */
export const storedRule = owned(alertRules, 'alert rule');
/** A channel. Errors: likewise. */
export const storedChannel = owned(alertChannels, 'alert channel');
/** An alert. Errors: likewise. */
export const storedAlert = owned(alerts, 'alert');
/** A silence. Errors: likewise. */
export const storedSilence = owned(alertSilences, 'alert silence');

/** What a caller owns of a collection. */
export function ownedBy<T extends Owned>(
  store: ReadStore,
  collection: Collection<T>,
  caller: Caller,
): T[] {
  return store.list(collection).filter(({ tenantId }) => tenantId === caller.tenantId);
}

/** A rule as answers show it. */
export function showRule(rule: AlertRuleRecord): AlertRule {
  return toMessage(AlertRuleSchema, rule);
}

/** A channel as answers show it: without secrets, with how sending goes. */
export function showChannel(store: ReadStore, channel: AlertChannelRecord): AlertChannel {
  const state = store.get(alertChannelStates, channel.id);
  const times = stated({
    lastSuccessAt: state?.lastSuccessAt,
    lastFailureAt: state?.lastFailureAt,
    lastError: state?.lastError,
  });
  const health = {
    sentCount: String(state?.sent ?? 0),
    failedCount: String(state?.failed ?? 0),
    waitingCount: String(store.count(alertDeliveries, 'waiting', channel.id)),
    failuresInRow: state?.failuresInRow ?? 0,
    ...times,
  };
  return toMessage(AlertChannelSchema, { ...channel, health });
}

/** An alert as answers show it; its texts are those of the standard language. */
export function showAlert(alert: AlertRecord): Alert {
  const { id, tenantId, siteId, severity, payload, ruleId, agentId, kind } = alert;
  const event = alert.firingAt === '' || alert.resolvedAt === '' ? 'firing' : 'resolved';
  const shown = { ...alert, subject: alert.subject };
  const { message } = renderMessage(shown, {}, event, standardStyle, 0);
  const title = alertTitle(alert);
  const { openedAt, ackedAt, resolvedAt, lastMatchedAt, firingAt, closedReason } = alert;
  return toMessage(AlertSchema, {
    ...{ id, tenantId, siteId, severity, title, message, payload, ruleId, agentId, kind },
    ...shownState(alert.state),
    ...stated({ openedAt, ackedAt, resolvedAt, lastMatchedAt, firingAt, closedReason }),
  });
}

/** An entry of a timeline as answers show it. */
export function showNote(note: AlertNoteRecord): AlertNote {
  return toMessage(AlertNoteSchema, note);
}

/** A silence as answers show it. */
export function showSilence(silence: AlertSilenceRecord): AlertSilence {
  return toMessage(AlertSilenceSchema, silence);
}

/** Times that are not there are left out. */
function stated(texts: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(texts).filter((one): one is [string, string] => (one[1] ?? '') !== ''),
  );
}

/** The audit note of a change of something that has a name. */
export function alertNote(
  caller: Caller,
  resourceType: 'alert' | 'alert_rule' | 'alert_channel' | 'alert_silence',
  { id, name = '' }: { readonly id: string; readonly name?: string },
) {
  return { ...actorNote(caller), resourceType, resourceId: id, resourceName: name };
}
