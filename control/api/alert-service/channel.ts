/** Channels of alerts; what is secret in them is kept in a record of its own, and written only. */

import {
  AlertChannelSchema,
  type AlertChannel,
  type AlertChannelJson,
} from '../../../proto/gen/waf/v1/alert_pb.ts';
import { secretsOf } from '../../alert/deliver.ts';
import { checkChannelConfig, missingSecrets } from '../../domain/alert/alert-channel.ts';
import type { AlertChannelRecord } from '../../domain/alert/alert-records.ts';
import { refusal } from '../../domain/errors.ts';
import { checkName } from '../../domain/names.ts';
import { maskOf } from '../../domain/update-mask.ts';
import { alertLimits } from '../../limits/alert-limits.ts';
import { alertChannelSpec, readAlertChannelSpec } from '../../publish/manifests/manifest-alerts.ts';
import {
  alertChannels,
  alertChannelSecrets,
  alertChannelStates,
  alertDeliveries,
  alertRules,
} from '../../store/collections.ts';
import type { ReadStore, WriteStore } from '../../store/store.ts';
import { toMessage } from '../convert.ts';
import type { Resource } from '../resource/resource.ts';
import { stated } from './stored.ts';

/** Channels of alerts; one that rules use is not removed. */
export const channelKind: Resource<
  typeof AlertChannelSchema,
  AlertChannelJson,
  AlertChannelRecord
> = {
  schema: AlertChannelSchema,
  collection: alertChannels,
  noun: 'alert channel',
  audit: 'alert_channel',
  field: 'channel',
  prefix: 'alert-channel',
  nameOf: ({ name }) => name,
  mask: maskOf(AlertChannelSchema, 'health'),
  show: (store) => (channel) => showChannel(store, channel),
  settle: ({ tx, document }, asked, before, base) => {
    const { channel, secrets } = checkChannel(tx, asked, before, document !== undefined);
    for (const path of missingSecrets({ config: channel.config, secrets })) {
      document?.warn(
        `${document.where}: spec.config.${path}: is a secret that no manifest holds; messages ` +
          'through this channel fail until it is set: waf alert channel-set',
      );
    }
    return {
      record: { ...base, ...channel },
      keepMore: (writing) => keepSecrets(writing, base.id, secrets),
      bringsMore: document !== undefined && bringsSecrets(asked),
    };
  },
  refuseMore: (store) => {
    const { channelsMax } = alertLimits;
    if (store.count(alertChannels) < channelsMax) return;
    throw refusal('resource_exhausted', `there are at most ${channelsMax} alert channels`);
  },
  taken: 'channel.name: another alert channel has this name',
  usersOf: (store, { id }) =>
    store.find(alertRules, 'channel', id).map((rule) => ({ kind: 'alert rule', id: rule.id })),
  dropMore: ({ tx }, { id }) => {
    tx.remove(alertChannelSecrets, id);
    tx.remove(alertChannelStates, id);
    for (const one of tx.find(alertDeliveries, 'waiting', id)) tx.remove(alertDeliveries, one.id);
  },
  document: {
    reference: 'alert channel',
    permission: 'alert:write',
    read: readAlertChannelSpec,
    spec: alertChannelSpec,
    fields: [
      [/^channel\.name:/, 'metadata.name:'],
      [/^channel\./, 'spec.'],
    ],
  },
};

/**
 * A channel without what the service gives, and its secrets. `configured` keeps those of `before`,
 * with `mayMiss` also where there are none. Errors: naming the field.
 */
export function checkChannel(
  store: ReadStore,
  asked: AlertChannelJson,
  before: AlertChannelRecord | null,
  mayMiss = false,
): {
  readonly channel: Pick<AlertChannelRecord, 'name' | 'kind' | 'enabled' | 'config'>;
  readonly secrets: Readonly<Record<string, string>>;
} {
  const name = checkName(asked.name, 'channel.name');
  const known =
    before === null
      ? null
      : { kind: before.kind, config: before.config, secrets: secretsOf(store, before.id) };
  const { config, secrets } = checkChannelConfig(asked.kind, asked.config ?? {}, known, mayMiss);
  const enabled = asked.enabled ?? false;
  return { channel: { name, kind: asked.kind!, enabled, config }, secrets };
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

/** Keeps the secrets of a channel in place of its earlier ones. */
function keepSecrets(tx: WriteStore, id: string, secrets: Readonly<Record<string, string>>): void {
  if (Object.keys(secrets).length === 0) tx.remove(alertChannelSecrets, id);
  else tx.put(alertChannelSecrets, { id, secrets });
}

function bringsSecrets({ kind, config = {} }: AlertChannelJson): boolean {
  return Object.keys(checkChannelConfig(kind, config, null, true).secrets).length > 0;
}
