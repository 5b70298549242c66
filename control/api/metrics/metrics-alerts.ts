/** Metrics of alerts: those that are open, and messages by channel. Limits bound the labels. */

import { alertKinds } from '../../domain/alert/alert-condition.ts';
import { alertSeverities, severityWord } from '../../domain/alert/alert-silence.ts';
import { isActive, shownState } from '../../domain/alert/alert-states.ts';
import {
  alertChannels,
  alertChannelStates,
  alertDeliveries,
  alertRules,
  alerts,
} from '../../store/collections.ts';
import type { Uses } from '../context.ts';
import type { MetricFamily, MetricSample } from './metrics-text.ts';

/** Alerts that fired and did not end, and what became of messages. */
export function alertMetrics({ store }: Uses<'store'>): MetricFamily[] {
  const open = new Map<string, number>();
  for (const { id } of store.list(alertRules)) {
    for (const { severity, kind, state } of store.find(alerts, 'live', id)) {
      // One that is pending may never fire.
      if (!isActive(state) || shownState(state).evaluationState === 'pending') continue;
      const key = `${severityWord(severity)} ${kind}`;
      open.set(key, (open.get(key) ?? 0) + 1);
    }
  }
  const samples = alertSeverities.map(severityWord).flatMap((severity) =>
    alertKinds.map((kind): MetricSample => {
      return {
        suffix: '',
        labels: { severity, kind },
        value: open.get(`${severity} ${kind}`) ?? 0,
      };
    }),
  );
  return [
    { name: 'waf_alerts_open', type: 'gauge', help: 'Alerts that fired and did not end.', samples },
    ...deliveryMetrics({ store }),
  ];
}

/** At most as many series as there may be channels, three each. */
function deliveryMetrics({ store }: Uses<'store'>): MetricFamily[] {
  const channels = store.list(alertChannels).map(({ id, name }) => ({
    labels: { channel_id: id, channel: name },
    state: store.get(alertChannelStates, id),
    waiting: store.count(alertDeliveries, 'waiting', id),
  }));
  const done = channels.flatMap(({ labels, state }) =>
    Object.entries({
      sent: state?.sent ?? 0,
      failed: state?.failed ?? 0,
      retried: state?.retried ?? 0,
    }).map(([result, value]): MetricSample => {
      return { suffix: '_total', labels: { ...labels, result }, value };
    }),
  );
  return [
    {
      name: 'waf_alert_deliveries',
      type: 'counter',
      help: 'Messages that were sent or given up, and attempts that another one followed.',
      samples: done,
    },
    {
      name: 'waf_alert_deliveries_waiting',
      type: 'gauge',
      help: 'Messages that wait to be sent.',
      samples: channels.map(({ labels, waiting }) => ({ suffix: '', labels, value: waiting })),
    },
  ];
}
