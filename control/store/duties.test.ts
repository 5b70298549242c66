/** Duties that move between controllers of one store: what a former holder writes is refused. */

import { expect, test } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import { silentLogger } from '../../base/log.ts';
import { session } from '../../test/support/shared-stores.ts';
import { sessions } from './collections.ts';
import { dutyTerms, sharedDuties, type Duties } from './duties.ts';
import type { Store } from './interface.ts';
import { openMemoryKv } from './memory-kv.ts';
import { openStore } from './store.ts';

type Name = 'first' | 'second';

/** Two controllers of one store, of which one is named as the holder. */
async function twoControllers() {
  const store = await openStore(openMemoryKv(), systemClock);
  const lease: { holder: Name | '' } = { holder: '' };
  const dutiesOf = (name: Name): Duties =>
    sharedDuties(store, () => lease.holder === name, silentLogger);
  return { store, lease, first: dutiesOf('first'), second: dutiesOf('second') };
}

const put = (store: Store, id: string): Promise<void> =>
  store.write((tx) => tx.put(sessions, session(id, 'one')));

const putInSteps = (store: Store, id: string): Promise<void> =>
  store.writeInSteps(function* (tx) {
    yield;
    tx.put(sessions, session(id, 'one'));
  });

test.each([
  ['at once', put],
  ['in steps', putInSteps],
])('a holder whose duties were taken over writes nothing any more: %s', async (_, write) => {
  const { store, lease, first, second } = await twoControllers();
  lease.holder = 'first';
  const before = (await first.begin())!;
  await write(before, 'a');
  lease.holder = 'second';
  // Nothing was taken over yet.
  await write(before, 'b');
  const after = (await second.begin())!;
  await expect(write(before, 'c')).rejects.toMatchObject({ code: 'duties_lost' });
  await write(after, 'd');
  expect(store.list(sessions).map(({ id }) => id)).toEqual(['a', 'b', 'd']);
});

test('duties that come back are a new term: what was begun in the old one stays refused', async () => {
  const { store, lease, first, second } = await twoControllers();
  lease.holder = 'first';
  const before = (await first.begin())!;
  expect(await first.begin()).toBe(before);
  lease.holder = 'second';
  await second.begin();
  lease.holder = 'first';
  const after = (await first.begin())!;
  await expect(put(before, 'a')).rejects.toMatchObject({ code: 'duties_lost' });
  await put(after, 'b');
  expect(store.list(dutyTerms)).toEqual([{ id: 'all', number: 3 }]);
});

test('who is no holder begins nothing, and takes no term, however long it waited to', async () => {
  const { store, lease, first } = await twoControllers();
  expect(await first.begin()).toBeNull();
  lease.holder = 'first';
  const late: Store = {
    ...store,
    write: (change) => {
      lease.holder = 'second';
      return store.write(change);
    },
  };
  const waited = sharedDuties(late, () => lease.holder === 'first', silentLogger);
  expect(await waited.begin()).toBeNull();
  expect(store.list(dutyTerms)).toEqual([]);
});
