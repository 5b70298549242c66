/** Staged contents when the storage refuses, and when several controllers use it. */

import { beforeEach, expect, test } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import { parseNetwork } from '../../base/ip-address.ts';
import { chunkEntriesMax } from '../domain/access/ip-list-content.ts';
import { accessLimits } from '../limits/access-limits.ts';
import { ipListChunks, ipListGarbage } from '../store/collections.ts';
import { openMemoryKv } from '../store/memory-kv.ts';
import { openStore, type Store } from '../store/store.ts';
import { adoptContent, dropAllGarbage, dropGarbage, stageContent } from './list-contents.ts';

const entries = ['10.0.0.1', '10.0.0.2'].map((text) => ({ key: parseNetwork(text) ?? '' }));

let store: Store;
beforeEach(async () => {
  store = await openStore(openMemoryKv(), systemClock);
});

test('what the storage refuses to remove hides no outcome, and stays noted', async () => {
  const { garbageId } = await stageContent(store, 'a', entries);
  const refusing: Store = {
    ...store,
    write: () => Promise.reject(new AppError('store_away', 'away', { source: 'storage' })),
  };
  await dropGarbage(refusing, garbageId);
  expect(store.list(ipListGarbage)).toMatchObject([{ id: garbageId }]);
  await dropAllGarbage(store);
  expect([store.list(ipListGarbage), store.list(ipListChunks)]).toEqual([[], []]);
});

test('a content that was adopted without a confirmation is not removed as staged', async () => {
  const staged = await stageContent(store, 'a', entries);
  const [noted] = store.list(ipListGarbage);
  await store.write((tx) => adoptContent(tx, staged, ''));
  // A copy that has not seen the commit shows what was there before.
  const behind = { ...store, get: () => noted } as unknown as Store;
  await dropGarbage(behind, staged.garbageId);
  expect(store.list(ipListChunks).map(({ id }) => id)).toEqual(
    staged.content.chunks.map(({ id }) => id),
  );
});

test('a content that another controller removed at its start is not adopted', async () => {
  const staged = await stageContent(store, 'a', entries);
  await dropAllGarbage(store);
  const adopted = store.write((tx) => adoptContent(tx, staged, ''));
  await expect(adopted).rejects.toMatchObject({ code: 'aborted' });
});

test('a content that another controller removed while it was staged is not staged on', async () => {
  const count = 2 * chunkEntriesMax * accessLimits.chunksPerWriteMax;
  const many = Array.from({ length: count }, (_, at) => ({
    key: parseNetwork(`10.${at >> 16}.${(at >> 8) & 255}.${at & 255}`) ?? '',
  }));
  let writes = 0;
  const meanwhile: Store = {
    ...store,
    write: async (change) => {
      const result = await store.write(change);
      if (++writes === 1) await dropAllGarbage(store);
      return result;
    },
  };
  await expect(stageContent(meanwhile, 'a', many)).rejects.toMatchObject({ code: 'aborted' });
  expect([store.list(ipListGarbage), store.list(ipListChunks)]).toEqual([[], []]);
});
