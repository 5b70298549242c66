/**
 * A process that fills the disk below its stores and says what became of them; made to run in a
 * small file system or under a limit of the file size. Prints one JSON line.
 */

import { publications } from '../../.build/control/store/collections.js';
import { openLmdbKv } from '../../.build/control/store/lmdb-kv.js';
import { openStore } from '../../.build/control/store/store.js';
import { systemClock } from '../../.build/base/clock.js';
import { Collections } from '../../.build/engine/state/collections.js';

const [what, folder] = process.argv.slice(2);
const logged = [];
const note = (message) => void logged.push(message);
const log = { debug: note, info: note, warn: note, error: note };
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const report = what === 'collections' ? await fillCollections() : await fillStore();
process.stdout.write(`${JSON.stringify({ ...report, logged })}\n`);

async function fillCollections() {
  const collections = new Collections(folder, systemClock, log);
  const change = { from: 'value', value: 'x'.repeat(8000), added: null, expiresAtMs: null };
  const never = Number.MAX_SAFE_INTEGER;
  const count = 400;
  for (let i = 0; i < count; i++) {
    collections.update('ip', `k${i}`, new Map([['a', change]]), never);
    if (i % 20 === 0) await pause(30);
  }
  await pause(100);
  let readable = 0;
  for (let i = 0; i < count; i++) if (collections.load('ip', `k${i}`) !== null) readable++;
  const { failedWrites } = collections;
  await collections.close();
  // What is on disk must open again.
  const again = new Collections(folder, systemClock, log);
  const kept = again.load('ip', 'k0') !== null;
  await again.close();
  return { count, readable, failed: failedWrites, kept };
}

async function fillStore() {
  const store = await openStore(openLmdbKv({ folder, durable: true }), systemClock);
  let acknowledged = 0;
  let code = '';
  for (let i = 0; i < 400 && code === ''; i++) {
    try {
      await store.write((tx) => {
        const id = String(tx.next('fill'));
        tx.put(publications, { id, revision: id, sha256: 'x'.repeat(8000), createdAt: '' });
      });
      acknowledged++;
    } catch (thrown) {
      code = thrown.code;
    }
  }
  const readable = store.list(publications).length;
  await store.close();
  const again = await openStore(openLmdbKv({ folder, durable: true }), systemClock);
  const kept = again.list(publications).length;
  await again.close();
  return { acknowledged, readable, code, kept };
}
