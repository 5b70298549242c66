/** AlertService/ListAlertChannels, GetAlertChannel, UpsertAlertChannel and DeleteAlertChannel. */

import {
  AlertChannelSchema,
  type AlertChannelJson,
  type AlertService,
} from '../../../proto/gen/waf/v1/alert_pb.ts';
import { invalidField } from '../../domain/errors.ts';
import { applyMask, type MaskFields } from '../../domain/update-mask.ts';
import { refuseUsed } from '../../domain/usage.ts';
import {
  alertChannels,
  alertChannelSecrets,
  alertChannelStates,
  alertDeliveries,
  alertRules,
} from '../../store/collections.ts';
import type { WriteStore } from '../../store/store.ts';
import { callerOf, type ApiParts } from '../context.ts';
import { pageOf, toRecord } from '../convert.ts';
import type { Method } from '../method.ts';
import { requireUnchanged } from '../unchanged.ts';
import { checkChannel, keepChannel } from './keep-channel.ts';
import { alertNote, ownedBy, showChannel, storedChannel } from './stored.ts';

const maskFields: MaskFields = { name: true, kind: true, enabled: true, config: true };

/** Lists channels by name. */
export function listAlertChannels({
  store,
}: ApiParts): Method<typeof AlertService, 'listAlertChannels'> {
  return (request, context) => {
    const found = ownedBy(store, alertChannels, callerOf(context));
    found.sort((left, right) => left.name.localeCompare(right.name, 'en'));
    const { items, page } = pageOf(found, request.page);
    return { items: items.map((one) => showChannel(store, one)), page };
  };
}

/** Shows one channel, without its secrets. */
export function getAlertChannel({
  store,
}: ApiParts): Method<typeof AlertService, 'getAlertChannel'> {
  return ({ id }, context) => ({
    channel: showChannel(store, storedChannel(store, callerOf(context), id, 'id')),
  });
}

/** Creates a channel, or changes what the mask names of the one with this id. */
export function upsertAlertChannel(
  parts: ApiParts,
): Method<typeof AlertService, 'upsertAlertChannel'> {
  return async ({ channel, updateMask, expectedUpdatedAt }, context) => {
    const caller = callerOf(context);
    if (channel === undefined) throw invalidField('channel', 'is required');
    const asked = toRecord<AlertChannelJson>(AlertChannelSchema, channel);
    const kept = await parts.store.write((tx) => {
      const isNew = channel.id === '';
      if (isNew && updateMask !== '') {
        throw invalidField('updateMask', 'goes with channel.id only');
      }
      const before = isNew ? undefined : storedChannel(tx, caller, channel.id, 'channel.id');
      requireUnchanged(expectedUpdatedAt, before);
      const shown = before === undefined ? null : showChannel(tx, before);
      const wanted =
        shown === null
          ? asked
          : applyMask<AlertChannelJson>(
              toRecord(AlertChannelSchema, shown),
              asked,
              updateMask,
              maskFields,
            );
      const checked = checkChannel(tx, caller, wanted, before);
      return keepChannel(tx, caller, checked, before, parts.clock.nowMs());
    });
    return { channel: showChannel(parts.store, kept) };
  };
}

/** Removes a channel that no rule uses, with the messages that wait for it. */
export function deleteAlertChannel({
  store,
}: ApiParts): Method<typeof AlertService, 'deleteAlertChannel'> {
  return async ({ id }, context) => {
    const caller = callerOf(context);
    await store.write((tx) => {
      const before = storedChannel(tx, caller, id, 'id');
      const users = tx.find(alertRules, 'channel', before.id);
      refuseUsed(
        'id',
        users.map((rule) => ({ kind: 'alert rule', id: rule.id })),
      );
      removeChannel(tx, before.id);
      tx.audit({ ...alertNote(caller, 'alert_channel', before), action: 'delete', before });
    });
    return { result: { id, changed: true } };
  };
}

function removeChannel(tx: WriteStore, id: string): void {
  tx.remove(alertChannels, id);
  tx.remove(alertChannelSecrets, id);
  tx.remove(alertChannelStates, id);
  for (const one of tx.find(alertDeliveries, 'waiting', id)) tx.remove(alertDeliveries, one.id);
}
