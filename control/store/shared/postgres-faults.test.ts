/** What PostgreSQL, its clock, its settings and the way to it may do to a shared store. */

import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { silentLogger } from '../../../base/log.ts';
import { CuttingProxy } from '../../../test/support/cutting-proxy.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { missingPostgres, TestPostgres } from '../../../test/support/postgres.ts';
import {
  countUp,
  expectSame,
  newKeyFile,
  openController,
  session,
} from '../../../test/support/shared-stores.ts';
import { sessions } from '../collections.ts';
import { dutyTerms, sharedDuties } from '../duties.ts';
import { openMainKv } from '../open-main-kv.ts';
import type { Store } from '../store.ts';
import { openPostgresLog } from './postgres-log.ts';
import { makeStoreKey, readStoreKey } from './store-key.ts';
import { readStoreAddress } from './store-option.ts';
import type { WriteLog } from './write-log.ts';

function openLog(url: string, keyFile: string): Promise<WriteLog> {
  const keys = { read: () => readStoreKey(keyFile), make: () => makeStoreKey(keyFile) };
  return openPostgresLog(readStoreAddress(url, 'the test')!, keys);
}

/** Who waits for a lock in a database. */
function waitingIn(url: string): string {
  const database = new URL(url).pathname.slice(1);
  return `SELECT 1 FROM pg_stat_activity
    WHERE datname = '${database}' AND wait_event_type = 'Lock'`;
}

describe.skipIf(missingPostgres !== null)('a shared store', () => {
  let postgres: TestPostgres;
  beforeAll(async () => {
    postgres = await TestPostgres.start();
  });
  afterAll(() => postgres?.stop());

  test('appends follow one another where a database defaults to serializable', async () => {
    const [url, keyFile] = [await postgres.freshUrl(), newKeyFile()];
    const database = new URL(url).pathname.slice(1);
    await postgres.rows(
      url,
      `ALTER DATABASE ${database} SET default_transaction_isolation = 'serializable'`,
    );
    const [first, second] = [await openLog(url, keyFile), await openLog(url, keyFile)];
    let later = Promise.resolve(-1);
    await first.hold('append', async (held) => {
      later = second.hold('append', async ({ head }) => head.seq);
      later.catch(() => undefined);
      await eventually(async () => (await postgres.rows(url, waitingIn(url))).length > 0);
      await held.append('a', new Map([['key', Buffer.from('value')]]));
    });
    expect(await later).toBe(1);
    for (const log of [first, second]) await log.close();
  });

  test('what was acknowledged outlives a server that confirms before it writes', async () => {
    const [url, keyFile] = [await postgres.freshUrl(), newKeyFile()];
    const database = new URL(url).pathname.slice(1);
    await postgres.rows(url, `ALTER DATABASE ${database} SET synchronous_commit = off`);
    await postgres.rows(url, "ALTER SYSTEM SET wal_writer_delay = '10s'");
    await postgres.rows(url, 'SELECT pg_reload_conf()');
    const { kv, store } = await openController(url, keyFile);
    await countUp(store, 'a');
    const head = 'SELECT seq FROM waf.head';
    const before = await postgres.rows(url, head);
    await postgres.kill();
    await postgres.begin();
    expect(await postgres.rows(url, head)).toEqual(before);
    await kv.close();
  });

  test('a change that could not be read at first is read later', async () => {
    const [url, keyFile] = [await postgres.freshUrl(), newKeyFile()];
    const proxy = await CuttingProxy.start(postgres.port);
    const through = new URL(url);
    through.port = String(proxy.port);
    const first = await openController(url, keyFile);
    const second = await openController(through.href, keyFile);
    let cuts = 0;
    // Both that tell of a change: the notice, and the look at the head after it.
    proxy.cuts = (from, bytes) => from === 'client' && bytes.includes('READ ONLY') && ++cuts <= 3;
    await countUp(first.store, 'a');
    await eventually(() => second.store.get(sessions, 'a') !== undefined);
    expect(cuts).toBeGreaterThan(3);
    await expectSame([first, second], 1);
    for (const { kv } of [first, second]) await kv.close();
    proxy.close();
  });

  test.each([
    ['in line for its start', 'pg_try_advisory_lock'],
    ['while it makes tables', 'CREATE SCHEMA'],
  ])('a start that is cut off %s says that PostgreSQL is away', async (_, text) => {
    const proxy = await CuttingProxy.start(postgres.port);
    proxy.cuts = (from, bytes) => from === 'client' && bytes.includes(text);
    const address = readStoreAddress(await postgres.freshUrl(proxy.port), 'the test');
    const dataFolder = mkdtempSync(join(tmpdir(), 'waf-start-'));
    await expect(openMainKv({ dataFolder, address, logger: silentLogger })).rejects.toMatchObject({
      code: 'store_away',
    });
    proxy.close();
  });

  describe('duties', () => {
    /** Two logs, the first of which has the duties, through a proxy. */
    async function holderAndNext() {
      const [url, keyFile] = [await postgres.freshUrl(), newKeyFile()];
      const proxy = await CuttingProxy.start(postgres.port);
      const through = new URL(url);
      through.port = String(proxy.port);
      const holder = await openLog(through.href, keyFile);
      holder.watch(() => undefined);
      await eventually(() => holder.holdsDuties());
      const next = await openLog(url, keyFile);
      const close = async (): Promise<void> => {
        proxy.close();
        for (const log of [holder, next]) await log.close();
      };
      return { url, proxy, holder, next, close };
    }

    test.each([
      ['a day forward', "- interval '1 day'"],
      ['a day back', "+ interval '1 day'"],
    ])('the clock of the server jumps %s: they are of one at a time, and move', async (_, jump) => {
      const { url, proxy, holder, next, close } = await holderAndNext();
      // The holder hangs, as far as the others can tell.
      proxy.silent = true;
      await postgres.rows(url, `UPDATE waf.leases SET until = until ${jump}`);
      const wasHeld = holder.holdsDuties();
      let both = false;
      next.watch(() => undefined);
      await eventually(() => {
        both ||= holder.holdsDuties() && next.holdsDuties();
        return next.holdsDuties();
      });
      expect({ wasHeld, both }).toEqual({ wasHeld: true, both: false });
      await close();
    });

    test('a former holder that has not heard of the next one yet has its writes refused', async () => {
      const [url, keyFile] = [await postgres.freshUrl(), newKeyFile()];
      const head = await openLog(url, keyFile);
      const [first, second] = [
        await openController(url, keyFile),
        await openController(url, keyFile),
      ];
      const before = (await sharedDuties(first.store, () => true, silentLogger).begin())!;
      await eventually(() => second.store.count(dutyTerms) === 1);
      const claim = (store: Store, by: string): Promise<void> =>
        store.write((tx) => tx.put(sessions, session('a', by)));
      const inLine = (count: number): Promise<unknown> =>
        eventually(async () => (await postgres.rows(url, waitingIn(url))).length === count);
      let [after, late]: [Promise<void>, Promise<void>] = [Promise.resolve(), Promise.resolve()];
      await head.hold('append', async () => {
        const next = sharedDuties(second.store, () => true, silentLogger);
        after = next.begin().then((store) => claim(store!, 'second'));
        await inLine(1);
        late = claim(before, 'first');
        late.catch(() => undefined);
        await inLine(2);
      });
      await expect(late).rejects.toMatchObject({ code: 'duties_lost' });
      await after;
      for (const { store } of [first, second]) {
        await eventually(() => store.get(sessions, 'a')?.userId === 'second');
      }
      for (const { kv } of [first, second]) await kv.close();
      await head.close();
    });

    test('a controller is heard of by the others until it hangs, or ends', async () => {
      const { proxy, holder, next, close } = await holderAndNext();
      next.watch(() => undefined);
      const [one, other] = [holder.controllers, next.controllers];
      const isAlive = (): boolean | undefined => other.heard(one.ownId)?.isAlive;
      await eventually(() => isAlive() === true && one.heard(other.ownId)?.isAlive === true);
      proxy.silent = true;
      await eventually(() => isAlive() === false);
      proxy.silent = false;
      proxy.cutAll();
      await eventually(() => isAlive() === true);
      await holder.close();
      await eventually(() => isAlive() === undefined);
      expect(other.heard(one.ownId)).toBeNull();
      await close();
    });

    test('a holder that was cut off and comes back leaves them with the next one', async () => {
      const { url, proxy, holder, next, close } = await holderAndNext();
      proxy.silent = true;
      next.watch(() => undefined);
      await eventually(() => next.holdsDuties() && holder.problem() !== '');
      proxy.silent = false;
      proxy.cutAll();
      await eventually(() => holder.problem() === '');
      // Both ask once in the same time.
      const renewals = new Set<unknown>();
      await eventually(async () => {
        renewals.add(
          (await postgres.rows(url, "SELECT until::text FROM waf.leases WHERE duty = 'all'"))[0]?.[
            'until'
          ],
        );
        return renewals.size > 3;
      });
      expect([holder.holdsDuties(), next.holdsDuties()]).toEqual([false, true]);
      await close();
    });
  });
});
