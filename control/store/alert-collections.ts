/** Collections of alerts: rules, channels, silences, and what became of conditions and messages. */

import type {
  AlertChannelRecord,
  AlertChannelSecretRecord,
  AlertChannelStateRecord,
  AlertDeliveryRecord,
  AlertNoteRecord,
  AlertProgressRecord,
  AlertRecord,
  AlertRuleRecord,
  AlertSilenceRecord,
} from '../domain/alert/alert-records.ts';
import { isLive } from '../domain/alert/alert-states.ts';
import type { Collection } from './collection.ts';

/** Rules of alerts, found by channel. */
export const alertRules: Collection<AlertRuleRecord> = {
  name: 'alert-rules',
  indexes: { channel: (rule) => rule.channelIds },
};
/** Alerts by the order of opening; those that are live are found by their rule. */
export const alerts: Collection<AlertRecord> = {
  name: 'alerts',
  indexes: {
    live: (alert) => (isLive(alert.state) ? [alert.ruleId] : []),
    ended: (alert) => (isLive(alert.state) ? [] : [alert.resolvedAt]),
  },
};
/** Timelines, found by alert. */
export const alertNotes: Collection<AlertNoteRecord> = {
  name: 'alert-notes',
  indexes: { alert: (note) => [note.alertId] },
  cached: false,
};
/** Channels, without their secrets. */
export const alertChannels: Collection<AlertChannelRecord> = {
  name: 'alert-channels',
  indexes: {},
};
/** Secrets of channels. */
export const alertChannelSecrets: Collection<AlertChannelSecretRecord> = {
  name: 'alert-channel-secrets',
  indexes: {},
};
/** How sending through channels went. */
export const alertChannelStates: Collection<AlertChannelStateRecord> = {
  name: 'alert-channel-states',
  indexes: {},
};
/** Silences. */
export const alertSilences: Collection<AlertSilenceRecord> = {
  name: 'alert-silences',
  indexes: {},
};
/** Messages, in the order in which they were decided on; those that wait by channel. */
export const alertDeliveries: Collection<AlertDeliveryRecord> = {
  name: 'alert-deliveries',
  indexes: {
    waiting: (one) => (one.state === 'waiting' ? [one.channelId] : []),
    done: (one) => (one.state === 'waiting' ? [] : ['done']),
  },
  counted: ['waiting', 'done'],
  cached: false,
};
/** How far rules were evaluated. */
export const alertProgress: Collection<AlertProgressRecord> = {
  name: 'alert-progress',
  indexes: {},
};
