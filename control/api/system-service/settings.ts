/** SystemService/GetSystemSettings and UpdateSystemSettings. */

import type { JsonObject } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { SystemService } from '../../../proto/gen/waf/v1/system_pb.ts';
import { invalidField } from '../../domain/errors.ts';
import {
  hideIdentitySecrets,
  keepIdentitySecrets,
} from '../../domain/settings/identity-settings.ts';
import { checkSettings, settings } from '../../domain/settings/settings.ts';
import { sitesNamed } from '../../domain/site/site-options.ts';
import { settingsId, sites, systemSettings } from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';
import { checkIdentityChange } from '../auth-service/identity-change.ts';
import { callerOf, type Uses } from '../context.ts';
import { applyNow, deploymentOf } from '../deployment.ts';
import type { Method } from '../method.ts';
import { nextUpdate, requireUnchanged } from '../unchanged.ts';
import { isPublished, keepSettings } from './keep-settings.ts';

/** All settings with their sources. */
export function getSystemSettings(
  parts: Uses<'store' | 'publisher' | 'nodes'>,
): Method<typeof SystemService, 'getSystemSettings'> {
  return () => ({ settings: show(parts.store), ...applicationOf(parts) });
}

/** Changes the given settings; null returns one to its standard value. */
export function updateSystemSettings(
  parts: Uses<'store' | 'clock' | 'logger' | 'publisher' | 'nodes'>,
): Method<typeof SystemService, 'updateSystemSettings'> {
  return async ({ values, expectedUpdatedAt }, context) => {
    const caller = callerOf(context);
    if (values === undefined) throw invalidField('values', 'is required');
    checkSettings(values);
    await parts.store.write((tx) => {
      const stored = tx.get(systemSettings, settingsId);
      requireUnchanged(expectedUpdatedAt, stored);
      checkSitesNamed(tx, values);
      checkIdentityChange(tx, caller, values);
      const before = stored?.values ?? {};
      const wanted = keepIdentitySecrets(values, before);
      checkSettings(wanted);
      keepSettings(tx, caller, wanted, nextUpdate(stored, parts.clock));
    });
    const heard = isPublished(values);
    if (heard) await applyNow(parts);
    const nothing = Object.keys(values).length === 0;
    const application = nothing ? notRequired : heard ? applicationOf(parts) : applied;
    return { settings: show(parts.store), ...application };
  };
}

/** Errors: invalid_argument naming a site that is not there. */
function checkSitesNamed(store: ReadStore, values: Readonly<Record<string, unknown>>): void {
  for (const [key, siteId] of sitesNamed(values)) {
    if (store.get(sites, siteId) !== undefined) continue;
    throw invalidField(`values.${key}`, `No site has the id "${siteId.slice(0, 64)}".`);
  }
}

interface Application {
  readonly application: string;
  readonly applyError: string;
}

const notRequired: Application = { application: 'not_required', applyError: '' };
const applied: Application = { application: 'applied', applyError: '' };

/** What became of the last change, by what the node answered. */
function applicationOf(parts: Uses<'store' | 'publisher' | 'nodes'>): Application {
  const stored = parts.store.get(systemSettings, settingsId);
  if (stored === undefined) return notRequired;
  if (stored.published !== true) return applied;
  const { state, error } = deploymentOf(parts);
  const application = state === 'applying' ? 'pending' : state;
  return { application, applyError: error };
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
