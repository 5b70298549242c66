/** Who this installation is: two names that are made once and kept with the store. */

import { randomUUID } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import type { Collection } from './collection.ts';
import type { Store } from './interface.ts';

/** The names of this installation; one record. */
export interface InstallationRecord {
  readonly id: string;
  /** Names this controller to its nodes. */
  readonly controllerId: string;
  /** Names what it controls; the same for every controller of a deployment. */
  readonly deploymentId: string;
  /** RFC 3339. */
  readonly createdAt: string;
}

const installationId = 'installation';

/** The names of this installation. */
export const installations: Collection<InstallationRecord> = { name: 'installation', indexes: {} };

/** The names of this installation; made at the first start, also in a store of before. */
export async function ensureInstallation(store: Store, clock: Clock): Promise<InstallationRecord> {
  const known = store.get(installations, installationId);
  if (known !== undefined) return known;
  const made: InstallationRecord = {
    id: installationId,
    controllerId: `controller-${randomUUID()}`,
    deploymentId: `deployment-${randomUUID()}`,
    createdAt: new Date(clock.nowMs()).toISOString(),
  };
  await store.write((tx) => tx.put(installations, made));
  return made;
}
