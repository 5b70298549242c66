/** Alerts and silences: whose they are, and how answers show them. */

import {
  AlertNoteSchema,
  AlertSchema,
  AlertSilenceSchema,
  type Alert,
  type AlertNote,
  type AlertSilence,
} from '../../../proto/gen/waf/v1/alert_pb.ts';
import { alertTitle, renderMessage, standardStyle } from '../../domain/alert/alert-message.ts';
import type {
  AlertNoteRecord,
  AlertRecord,
  AlertSilenceRecord,
} from '../../domain/alert/alert-records.ts';
import { shownState } from '../../domain/alert/alert-states.ts';
import { alerts, alertSilences } from '../../store/collections.ts';
import { toMessage } from '../convert.ts';
import type { ShownKind } from '../resource/resource.ts';

/** Alerts. */
export const alertKind: ShownKind<typeof AlertSchema, AlertRecord> = {
  schema: AlertSchema,
  collection: alerts,
  noun: 'alert',
  audit: 'alert',
  nameOf: ({ ruleName }) => ruleName,
  show: () => showAlert,
};

/** Silences. */
export const silenceKind: ShownKind<typeof AlertSilenceSchema, AlertSilenceRecord> = {
  schema: AlertSilenceSchema,
  collection: alertSilences,
  noun: 'alert silence',
  audit: 'alert_silence',
  nameOf: () => '',
};

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

/** Texts that are there; times that are not there are left out. */
export function stated(
  texts: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(texts).filter((one): one is [string, string] => (one[1] ?? '') !== ''),
  );
}
