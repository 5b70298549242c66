/** The proof that a transaction made in slices is one transaction. */

import { expect, test } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import { storeLimits } from '../limits/store-limits.ts';
import type { Steps } from '../../base/steps.ts';
import { publications, policies, type PublicationRecord } from './collections.ts';
import { openMemoryKv } from './memory-kv.ts';
import { openStore, type Store, type WriteStore } from './store.ts';

const row = (id: string, sha256 = ''): PublicationRecord => ({
  id,
  revision: id,
  sha256,
  createdAt: '',
});

const note = {
  actorId: 'a',
  actorName: 'a',
  tenantId: 'default',
  action: 'create',
  resourceType: 'x',
  resourceId: '1',
  resourceName: '',
};

const open = (): Promise<Store> => openStore(openMemoryKv(), systemClock);

/** Lets the event loop turn between its steps: works longer than a slice. */
function* slowly(work: () => void): Steps<void> {
  work();
  const until = performance.now() + storeLimits.sliceMs;
  while (performance.now() < until);
  yield;
  yield;
}

test('all of it is there at the end, nothing before, and listeners hear of it once', async () => {
  const store = await open();
  const heard: ReadonlySet<string>[] = [];
  store.onChange((changed) => heard.push(changed));
  const run = store.writeInSteps(function* (tx) {
    yield* slowly(() => tx.put(publications, row('1')));
    expect(tx.count(publications)).toBe(1);
    yield* slowly(() => tx.put(publications, row('2')));
    return tx.list(publications).length;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(store.list(publications)).toEqual([]);
  expect(await run).toBe(2);
  expect(store.list(publications).map(({ id }) => id)).toEqual(['1', '2']);
  expect(store.count(publications)).toBe(2);
  expect(heard).toEqual([new Set(['publications'])]);
});

test('one that throws leaves nothing', async () => {
  const store = await open();
  const run = store.writeInSteps(function* (tx): Steps<void> {
    yield* slowly(() => tx.put(publications, row('1')));
    throw new Error('no');
  });
  await expect(run).rejects.toThrow('no');
  expect(store.list(publications)).toEqual([]);
});

test('what others write meanwhile is not lost: it is made again from that', async () => {
  const store = await open();
  await store.write((tx) => tx.put(publications, row('n', '0')));
  let attempts = 0;
  const add = (tx: WriteStore): void => {
    const { sha256 } = tx.get(publications, 'n')!;
    tx.put(publications, row('n', String(Number(sha256) + 1)));
  };
  const run = store.writeInSteps(function* (tx) {
    attempts++;
    yield* slowly(() => add(tx));
  });
  // Until it gives up waiting for quiet and is made in one go.
  for (let at = 0; at < 20; at++) {
    await store.write(add);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await run;
  expect(store.get(publications, 'n')?.sha256).toBe('21');
  expect(attempts).toBeGreaterThan(1);
  expect(attempts).toBeLessThanOrEqual(storeLimits.stepAttemptsMax);
});

test('what others write elsewhere does not matter, but for rows of the audit chain', async () => {
  const store = await open();
  let attempts = 0;
  const slices = (audits: boolean) =>
    store.writeInSteps(function* (tx) {
      attempts++;
      yield* slowly(() => tx.get(policies, 'p'));
      if (audits) tx.audit(note);
      yield* slowly(() => tx.put(publications, row('1')));
    });
  const quiet = slices(false);
  await new Promise((resolve) => setImmediate(resolve));
  await store.write((tx) => tx.audit(note));
  await quiet;
  expect(attempts).toBe(1);
  const audited = slices(true);
  await new Promise((resolve) => setImmediate(resolve));
  await store.write((tx) => tx.audit(note));
  await audited;
  expect(attempts).toBeGreaterThan(2);
  const rows = [...store.auditRows()];
  expect(rows).toHaveLength(3);
  expect(rows.slice(1).map(({ prevHash }) => prevHash)).toEqual(
    rows.slice(0, -1).map(({ hash }) => hash),
  );
});
