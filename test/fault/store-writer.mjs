/** Owns a process that writes to the store for ever and says what is on disk; made to be killed. */

import { systemClock } from '../../.build/engine/base/clock.js';
import { publications } from '../../.build/control/store/collections.js';
import { openLmdbKv } from '../../.build/control/store/lmdb-kv.js';
import { openStore } from '../../.build/control/store/store.js';

const [folder] = process.argv.slice(2);
const store = await openStore(openLmdbKv({ folder, durable: true }), systemClock);
const note = {
  actorId: 'u',
  actorName: 'n',
  tenantId: 't',
  action: 'create',
  resourceType: 'publication',
};
for (;;) {
  const number = await store.write((tx) => {
    const next = tx.next('kill');
    const id = String(next);
    tx.put(publications, { id, revision: id, sha256: 'x'.repeat(next % 3000), createdAt: '' });
    tx.audit({ ...note, resourceId: id });
    return next;
  });
  // Written synchronously: a line that was read is a write that was acknowledged.
  process.stdout.write(`${number}\n`);
}
