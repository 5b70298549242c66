/** Keeps changed settings, with their audit row. Secrets are kept and not audited. */

import type { Caller } from '../../auth/permissions.ts';
import { hideIdentitySecrets } from '../../domain/settings/identity-settings.ts';
import { settings } from '../../domain/settings/settings.ts';
import { settingsId, systemSettings } from '../../store/collections.ts';
import type { WriteStore } from '../../store/store.ts';
import { actorNote } from '../context.ts';

/** Keeps checked values beside those that are there; null returns one to its standard value. */
export function keepSettings(
  tx: WriteStore,
  caller: Caller,
  values: Readonly<Record<string, unknown>>,
  updatedAt: string,
): void {
  const before = tx.get(systemSettings, settingsId)?.values ?? {};
  const after: Record<string, unknown> = { ...before };
  for (const [key, value] of Object.entries(values)) {
    if (value === null) delete after[key];
    else after[key] = value;
  }
  tx.put(systemSettings, {
    id: settingsId,
    values: after,
    updatedAt,
    published: isPublished(values),
  });
  tx.audit({
    ...actorNote(caller),
    action: 'update',
    resourceType: 'system_settings',
    resourceId: settingsId,
    before: hideIdentitySecrets(before),
    after: hideIdentitySecrets(after),
  });
}

/** Whether nodes have to hear of a change. */
export function isPublished(values: Readonly<Record<string, unknown>>): boolean {
  return settings.some(({ key, published }) => published && Object.hasOwn(values, key));
}
