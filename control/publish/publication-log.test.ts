/** Proves that answers of many nodes become few writes, of which none loses an answer. */

import { expect, test } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import { publications, type NodeDelivery } from '../store/collections.ts';
import { openMemoryKv } from '../store/memory-kv.ts';
import { openStore, type Store } from '../store/store.ts';
import { DeliveryNotes, publicationRow } from './publication-log.ts';

const delivery = (error: string): NodeDelivery => ({
  deliveredAt: '',
  appliedAt: '',
  result: 'failure',
  error,
});

async function openCounted(): Promise<{ store: Store; writes: () => number }> {
  const store = await openStore(openMemoryKv(), systemClock);
  await store.write((tx) => {
    for (const revision of ['1', '2']) {
      const row = { id: revision.padStart(12, '0'), revision, sha256: '', createdAt: '' };
      tx.put(publications, row);
    }
  });
  let writes = 0;
  const counted: Store = Object.create(store, {
    write: {
      value: (change: Parameters<Store['write']>[0]) => {
        writes++;
        return store.write(change);
      },
    },
  }) as Store;
  return { store: counted, writes: () => writes };
}

test('what a thousand nodes answer at once is one write, and all of it is kept', async () => {
  const { store, writes } = await openCounted();
  const notes = new DeliveryNotes(store);
  const first = notes.note('1', 'n-first', delivery('x'));
  await first;
  const all = Array.from({ length: 1_000 }, (_, at) => notes.note('2', `n${at}`, delivery('y')));
  await Promise.all([
    ...all,
    notes.note('1', 'n-last', delivery('z')),
    notes.note('9', 'n', delivery('')),
  ]);
  expect(writes()).toBe(2);
  expect(Object.keys(publicationRow(store, '2')?.nodes ?? {})).toHaveLength(1_000);
  expect(Object.keys(publicationRow(store, '1')?.nodes ?? {})).toEqual(['n-first', 'n-last']);
});

test('the last answer of a node counts, also over a write on its way', async () => {
  const { store } = await openCounted();
  const notes = new DeliveryNotes(store);
  const early = notes.note('1', 'n', delivery('first'));
  await Promise.resolve();
  await Promise.resolve();
  await Promise.all([
    early,
    notes.note('1', 'n', delivery('second')),
    notes.note('1', 'n', delivery('third')),
  ]);
  expect(publicationRow(store, '1')?.nodes?.['n']?.error).toBe('third');
});

test('a write that fails is an error for its nodes; the next one is tried', async () => {
  const { store } = await openCounted();
  let broken = true;
  const failing: Store = Object.create(store, {
    write: {
      value: (change: Parameters<Store['write']>[0]) =>
        broken ? Promise.reject(new Error('disk full')) : store.write(change),
    },
  }) as Store;
  const notes = new DeliveryNotes(failing);
  await expect(notes.note('1', 'n', delivery('lost'))).rejects.toThrow('disk full');
  broken = false;
  await notes.note('1', 'n', delivery('kept'));
  expect(publicationRow(store, '1')?.nodes?.['n']?.error).toBe('kept');
});
