/** Owns SystemService/GetSystemSettings and UpdateSystemSettings. */

import type { JsonObject } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { SystemService } from '../../../proto/gen/waf/v1/system_pb.ts';
import { invalidField } from '../../domain/errors.ts';
import { hideIdentitySecrets, keepIdentitySecrets } from '../../domain/identity-settings.ts';
import { checkSettings, settings } from '../../domain/settings.ts';
import { settingsId, systemSettings } from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';
import { checkIdentityChange } from '../auth-service/identity-change.ts';
import { actorNote, callerOf, type ApiParts } from '../context.ts';
import { isoNow } from '../convert.ts';
import type { Method } from '../method.ts';

/** All settings with their sources. */
export function getSystemSettings(
  parts: ApiParts,
): Method<typeof SystemService, 'getSystemSettings'> {
  return () => ({ settings: show(parts.store) });
}

/** Changes the given settings; null returns one to its standard value. */
export function updateSystemSettings(
  parts: ApiParts,
): Method<typeof SystemService, 'updateSystemSettings'> {
  return async ({ values }, context) => {
    const caller = callerOf(context);
    if (values === undefined) throw invalidField('values', 'is required');
    checkSettings(values);
    await parts.store.write((tx) => {
      checkIdentityChange(tx, caller, values);
      const before = tx.get(systemSettings, settingsId)?.values ?? {};
      const after: Record<string, unknown> = { ...before };
      const wanted = keepIdentitySecrets(values, before);
      checkSettings(wanted);
      for (const [key, value] of Object.entries(wanted)) {
        if (value === null) delete after[key];
        else after[key] = value;
      }
      tx.put(systemSettings, { id: settingsId, values: after, updatedAt: isoNow(parts.clock) });
      tx.audit({
        ...actorNote(caller),
        action: 'update',
        resourceType: 'system_settings',
        resourceId: settingsId,
        before: hideIdentitySecrets(before),
        after: hideIdentitySecrets(after),
      });
    });
    const published = settings.some(
      ({ key, published: heard }) => heard && Object.hasOwn(values, key),
    );
    return {
      settings: show(parts.store),
      application: published
        ? 'pending'
        : Object.keys(values).length > 0
          ? 'applied'
          : 'not_required',
    };
  };
}

function show(store: ReadStore) {
  const stored = store.get(systemSettings, settingsId);
  const values: Record<string, unknown> = {};
  const sources: Record<string, string> = {};
  for (const { key, standard } of settings) {
    const own = stored?.values[key];
    values[key] = own ?? standard;
    sources[key] = own === undefined ? 'default' : 'stored';
  }
  const updated =
    stored === undefined ? {} : { updatedAt: timestampFromDate(new Date(stored.updatedAt)) };
  const shown = hideIdentitySecrets(values) as JsonObject;
  return { id: settingsId, values: shown, sources, ...updated };
}
