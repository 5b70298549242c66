/** A process that writes to the store for ever and says what is on disk; made to be killed. */

const [folder, build] = process.argv.slice(2);
const load = (path) => import(new URL(path, build).href);
const { systemClock } = await load('base/clock.js');
const { publications } = await load('control/store/collections.js');
const { openLmdbKv } = await load('control/store/lmdb-kv.js');
const { openStore } = await load('control/store/store.js');

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
  // A line that was read is a write that was acknowledged.
  process.stdout.write(`${number}\n`);
  // Without a turn of the loop lines that the reader was too slow for would never leave.
  await new Promise((resolve) => setImmediate(resolve));
}
