/** Checks and keeps a channel; its secrets go to a record of their own. */

import { randomUUID } from 'node:crypto';
import type { AlertChannelJson } from '../../../proto/gen/waf/v1/alert_pb.ts';
import { secretsOf } from '../../alert/deliver.ts';
import type { Caller } from '../../auth/permissions.ts';
import { checkChannelConfig } from '../../domain/alert/alert-channel.ts';
import type { AlertChannelRecord } from '../../domain/alert/alert-records.ts';
import { refusal } from '../../domain/errors.ts';
import { alertLimits } from '../../limits/alert-limits.ts';
import { alertChannels, alertChannelSecrets } from '../../store/collections.ts';
import type { ReadStore, WriteStore } from '../../store/store.ts';
import { nextUpdate } from '../unchanged.ts';
import { checkAlertName } from './check-rule.ts';
import { alertNote } from './stored.ts';

/** A channel without what the service gives, and its secrets. */
export interface CheckedAlertChannel {
  readonly channel: Pick<AlertChannelRecord, 'name' | 'kind' | 'enabled' | 'config'>;
  readonly secrets: Readonly<Record<string, string>>;
}

/**
 * Checks a channel; `configured` keeps secrets of `before`, with `mayMiss` also where there are
 * none. Errors: naming the field.
 */
export function checkChannel(
  store: ReadStore,
  caller: Caller,
  asked: AlertChannelJson,
  before: AlertChannelRecord | undefined,
  mayMiss = false,
): CheckedAlertChannel {
  const name = checkAlertName(asked.name, 'channel.name');
  const same = store
    .list(alertChannels)
    .find((one) => one.tenantId === caller.tenantId && one.name === name && one.id !== before?.id);
  if (same !== undefined) {
    throw refusal('already_exists', 'channel.name: another alert channel has this name');
  }
  const known =
    before === undefined
      ? null
      : { kind: before.kind, config: before.config, secrets: secretsOf(store, before.id) };
  const { config, secrets } = checkChannelConfig(asked.kind, asked.config ?? {}, known, mayMiss);
  const enabled = asked.enabled ?? false;
  return { channel: { name, kind: asked.kind!, enabled, config }, secrets };
}

/** Keeps a channel. Errors: resource_exhausted for too many. */
export function keepChannel(
  tx: WriteStore,
  caller: Caller,
  { channel, secrets }: CheckedAlertChannel,
  before: AlertChannelRecord | undefined,
  nowMs: number,
): AlertChannelRecord {
  if (before === undefined) refuseMoreChannels(tx);
  const now = nextUpdate(before, { nowMs: () => nowMs });
  const record: AlertChannelRecord = {
    ...channel,
    id: before?.id ?? `alert-channel-${randomUUID()}`,
    tenantId: caller.tenantId,
    createdAt: before?.createdAt ?? now,
    updatedAt: now,
  };
  tx.put(alertChannels, record);
  keepChannelSecrets(tx, record.id, secrets);
  const earlier = before === undefined ? {} : { before };
  const note = alertNote(caller, 'alert_channel', record);
  tx.audit({ ...note, action: 'upsert', ...earlier, after: record });
  return record;
}

/** Keeps the secrets of a channel in place of its earlier ones. */
export function keepChannelSecrets(
  tx: WriteStore,
  id: string,
  secrets: CheckedAlertChannel['secrets'],
): void {
  if (Object.keys(secrets).length === 0) tx.remove(alertChannelSecrets, id);
  else tx.put(alertChannelSecrets, { id, secrets });
}

/** Errors: resource_exhausted where another channel is too many. */
export function refuseMoreChannels(store: ReadStore): void {
  const { channelsMax } = alertLimits;
  if (store.count(alertChannels) < channelsMax) return;
  throw refusal('resource_exhausted', `there are at most ${channelsMax} alert channels`);
}
