/** Several stores over one PostgreSQL: one order, nothing lost, nothing twice, whatever breaks. */

import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../../base/clock.ts';
import { CuttingProxy } from '../../../test/support/cutting-proxy.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { missingPostgres, TestPostgres } from '../../../test/support/postgres.ts';
import {
  contentOf,
  countUp,
  expectSame,
  newKeyFile,
  notWhileAway,
  openController,
  session,
  type Controller,
} from '../../../test/support/shared-stores.ts';
import { writeBackup } from '../backup.ts';
import { sessions } from '../collections.ts';
import { openLmdbKv } from '../lmdb-kv.ts';
import { restoreBackup } from '../restore.ts';
import { openStore } from '../store.ts';
import { replicaOf } from './replica.ts';
import { makeStoreKey } from './store-key.ts';

describe.skipIf(missingPostgres !== null)('over one PostgreSQL', () => {
  let postgres: TestPostgres;
  beforeAll(async () => {
    postgres = await TestPostgres.start();
  });
  afterAll(() => postgres?.stop());

  test('two controllers: 1,000 writes that meet have one order, and each counts once', async () => {
    const [url, keyFile] = [await postgres.freshUrl(), newKeyFile()];
    const pair = [await openController(url, keyFile), await openController(url, keyFile)];
    const sums: number[] = [];
    await Promise.all(
      pair.map(async ({ store }, which) => {
        for (let at = 0; at < 500; at += 5) {
          const names = [0, 1, 2, 3, 4].map((more) => `${which}-${at + more}`);
          sums.push(...(await Promise.all(names.map((name) => countUp(store, name)))));
        }
      }),
    );
    expect(new Set(sums).size).toBe(1_000);
    await expectSame(pair, 1_000);
    for (const { kv } of pair) await kv.close();
  }, 300_000);

  test('a write of one is seen by the other, whose listeners and lists know of it', async () => {
    const [url, keyFile] = [await postgres.freshUrl(), newKeyFile()];
    const [first, second] = [
      await openController(url, keyFile),
      await openController(url, keyFile),
    ];
    expect(second.store.list(sessions)).toEqual([]);
    const before = second.store.changesOf([sessions.name]);
    const heard = new Promise<ReadonlySet<string>>((resolve) => {
      second.store.onChange(resolve);
    });
    await first.store.write((tx) => tx.put(sessions, session('s1', 'u1')));
    expect([...(await heard)]).toEqual([sessions.name]);
    expect(second.store.list(sessions).map(({ id }) => id)).toEqual(['s1']);
    expect(second.store.find(sessions, 'user', 'u1')).toHaveLength(1);
    expect(second.store.changesOf([sessions.name])).toBeGreaterThan(before);
    await second.store.write((tx) => tx.put(sessions, session('s1', 'u2')));
    await eventually(() => first.store.find(sessions, 'user', 'u2').length === 1);
    await first.store.write((tx) => tx.remove(sessions, 's1'));
    await eventually(() => second.store.get(sessions, 's1') === undefined);
    for (const { kv } of [first, second]) await kv.close();
  });

  test('a change that throws on what others wrote leaves nothing, and those beside it stay', async () => {
    const [url, keyFile] = [await postgres.freshUrl(), newKeyFile()];
    const pair = [await openController(url, keyFile), await openController(url, keyFile)];
    const claim = ({ store }: Controller): Promise<unknown> =>
      store.write((tx) => {
        if (tx.get(sessions, 'name') !== undefined) throw new Error('taken');
        tx.put(sessions, session('name', 'who'));
      });
    const results = await Promise.allSettled(
      pair.flatMap((one, which) => [claim(one), countUp(one.store, `${which}`)]),
    );
    expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(1);
    for (const { store } of pair) {
      await eventually(() => store.get(sessions, 'sum')?.sessionEpoch === 2);
      expect(store.get(sessions, 'name')?.userId).toBe('who');
    }
    for (const { kv } of pair) await kv.close();
  });

  test('a change in steps is made again when another controller wrote meanwhile', async () => {
    const [url, keyFile] = [await postgres.freshUrl(), newKeyFile()];
    const [first, second] = [
      await openController(url, keyFile),
      await openController(url, keyFile),
    ];
    const writes = Array.from({ length: 20 }, (_, at) => [
      countUp(first.store, `a${at}`),
      second.store.writeInSteps(function* (tx) {
        const before = tx.get(sessions, 'sum')?.sessionEpoch ?? 0;
        yield;
        tx.put(sessions, { ...session('sum', 'sum'), sessionEpoch: before + 1 });
        return before;
      }),
    ]);
    expect(await Promise.all(writes.flat())).toHaveLength(40);
    for (const { store } of [first, second]) {
      await eventually(() => store.get(sessions, 'sum')?.sessionEpoch === 40);
    }
    for (const { kv } of [first, second]) await kv.close();
  });

  test('kill -9 of PostgreSQL in between: what was acknowledged is there once, the rest not twice', async () => {
    const [url, keyFile] = [await postgres.freshUrl(), newKeyFile()];
    const pair = [await openController(url, keyFile), await openController(url, keyFile)];
    const done = new Set<string>();
    const failed = new Set<string>();
    let over = false;
    const writing = pair.map(async ({ store }, which) => {
      for (let at = 0; !over || at < 100; at++) {
        const name = `${which}-${at}`;
        await countUp(store, name).then(
          () => done.add(name),
          async () => {
            failed.add(name);
            await new Promise((resolve) => setTimeout(resolve, 20));
          },
        );
      }
    });
    for (let round = 1; round <= 3; round++) {
      await eventually(() => done.size > round * 30);
      await postgres.kill();
      for (const { store } of pair) expect(store.count(sessions)).toBeGreaterThan(0);
      await postgres.begin();
    }
    over = true;
    await Promise.all(writing);
    const [{ store }] = pair as [Controller];
    // What was known last is that PostgreSQL starts; a moment later it is known to be there.
    const last = await eventually(() => countUp(store, 'last').catch(notWhileAway));
    for (const name of done) expect(store.get(sessions, name)).toBeDefined();
    expect(last).toBeGreaterThanOrEqual(done.size + 1);
    expect(last).toBeLessThanOrEqual(done.size + failed.size + 1);
    await expectSame(pair, last);
    for (const { kv } of pair) await kv.close();
  }, 300_000);

  test.each([
    ['before the head is held', 'client', 'FOR UPDATE'],
    ['while the head is held', 'server', 'SELECT 1'],
    ['before the entry is sent', 'client', 'INSERT INTO waf.log'],
    ['before the commit is sent', 'client', 'COMMIT'],
    ['before the commit is answered', 'server', 'COMMIT'],
  ] as const)(
    'a connection cut %s: the write is made once',
    async (_, side, text) => {
      const proxy = await CuttingProxy.start(postgres.port);
      const keyFile = newKeyFile();
      const url = await postgres.freshUrl(proxy.port);
      const [first, second] = [
        await openController(url, keyFile),
        await openController(url, keyFile),
      ];
      await countUp(first.store, 'before');
      let cuts = 0;
      const mark = text === 'SELECT 1' ? 'BEGIN' : text;
      proxy.cuts = (from, bytes) => from === side && bytes.includes(mark) && ++cuts === 1;
      const sums = await Promise.all([countUp(first.store, 'a'), countUp(first.store, 'b')]);
      expect(cuts).toBeGreaterThan(0);
      expect(sums).toEqual([2, 3]);
      await expectSame([first, second], 3);
      for (const { kv } of [first, second]) await kv.close();
      proxy.close();
    },
    120_000,
  );

  test('while PostgreSQL is away reads are answered, and writes say why not', async () => {
    const keyFile = newKeyFile();
    const proxy = await CuttingProxy.start(postgres.port);
    const { kv, store } = await openController(await postgres.freshUrl(proxy.port), keyFile);
    await countUp(store, 'before');
    proxy.cuts = () => true;
    await expect(countUp(store, 'away')).rejects.toMatchObject({ code: 'store_away' });
    expect(store.get(sessions, 'away')).toBeUndefined();
    expect(store.get(sessions, 'before')).toBeDefined();
    await expect(countUp(store, 'again')).rejects.toThrow('nothing was changed');
    proxy.cuts = () => false;
    await eventually(() =>
      countUp(store, 'back').then(
        () => true,
        () => false,
      ),
    );
    expect(store.get(sessions, 'sum')?.sessionEpoch).toBe(2);
    await kv.close();
    proxy.close();
  });

  test('one that starts again catches up, and one that lags too far takes the whole state', async () => {
    const [url, keyFile] = [await postgres.freshUrl(), newKeyFile()];
    const folder = mkdtempSync(join(tmpdir(), 'waf-shared-'));
    const first = await openController(url, keyFile);
    const second = await openController(url, keyFile, folder);
    await second.kv.close();
    await countUp(first.store, 'a');
    await first.store.write((tx) => tx.put(sessions, session('gone', 'u')));
    const again = await openController(url, keyFile, folder);
    expect(again.store.get(sessions, 'gone')).toBeDefined();
    await again.kv.close();
    await first.store.write((tx) => tx.remove(sessions, 'gone'));
    await countUp(first.store, 'b');
    await postgres.rows(url, 'DELETE FROM waf.log WHERE seq < (SELECT seq FROM waf.head)');
    const late = await openController(url, keyFile, folder);
    expect(late.store.get(sessions, 'gone')).toBeUndefined();
    await expectSame([first, late], 2);
    for (const { kv } of [first, late]) await kv.close();
  });

  test('an embedded store moves into an empty database; a backup of a copy is embedded again', async () => {
    const [url, keyFile] = [await postgres.freshUrl(), newKeyFile()];
    const data = mkdtempSync(join(tmpdir(), 'waf-moved-'));
    const folder = join(data, 'control');
    const embedded = openLmdbKv({ folder, durable: true });
    const before = await openStore(embedded, systemClock);
    await countUp(before, 'a');
    const content = contentOf(embedded);
    await embedded.close();

    const first = await openController(url, keyFile, folder);
    expect(contentOf(first.kv)).toEqual(content);
    const second = await openController(url, keyFile);
    expect(contentOf(second.kv)).toEqual(content);
    await countUp(second.store, 'b');
    await expectSame([first, second], 2);
    const moved = contentOf(first.kv);
    for (const { kv } of [first, second]) await kv.close();

    const file = join(data, 'all.wafbackup');
    const nowMs = systemClock.nowMs();
    const how = { logs: false, overwrite: false, product: 'test', nowMs };
    await writeBackup({ data, target: file, ...how });
    const back = mkdtempSync(join(tmpdir(), 'waf-back-'));
    await restoreBackup({ file, data: back, overwrite: false, clock: systemClock });
    const restored = openLmdbKv({ folder: join(back, 'control'), durable: true });
    expect(replicaOf(restored)).toBeNull();
    expect(contentOf(restored)).toEqual(moved);
    await restored.close();
    // A database that has a store already is not overwritten.
    await expect(openController(url, keyFile, join(back, 'control'))).rejects.toMatchObject({
      code: 'store_embedded',
    });
  });

  test('what PostgreSQL holds shows nothing, and another key is refused', async () => {
    const [url, keyFile] = [await postgres.freshUrl(), newKeyFile()];
    const { kv, store } = await openController(url, keyFile);
    await store.write((tx) => tx.put(sessions, session('s-secret-name', 'u-secret-value')));
    const shown = JSON.stringify([
      ...(await postgres.rows(url, "SELECT id, encode(sealed, 'escape') s FROM waf.log")),
      ...(await postgres.rows(url, "SELECT encode(name, 'escape') n FROM waf.state")),
      ...(await postgres.rows(url, "SELECT encode(sealed, 'escape') s FROM waf.state")),
    ]);
    expect(shown).not.toContain('secret');
    await expect(openController(url, newKeyFile())).rejects.toThrow(/no key here.*store-key/s);
    const other = newKeyFile();
    makeStoreKey(other);
    await expect(openController(url, other)).rejects.toMatchObject({ code: 'store_key_needed' });
    await kv.close();
  });

  test('a state older than the copy, and a data folder of another store, are refused', async () => {
    const [url, keyFile] = [await postgres.freshUrl(), newKeyFile()];
    const folder = mkdtempSync(join(tmpdir(), 'waf-shared-'));
    const { kv, store } = await openController(url, keyFile, folder);
    await countUp(store, 'a');
    await kv.close();
    const before = await postgres.rows(url, 'SELECT seq FROM waf.head');
    await postgres.rows(url, 'UPDATE waf.head SET seq = seq - 1');
    await expect(openController(url, keyFile, folder)).rejects.toMatchObject({
      code: 'store_diverged',
    });
    await postgres.rows(url, `UPDATE waf.head SET seq = ${String(before[0]!.seq)}`);
    await postgres.rows(url, "UPDATE waf.log SET id = 'other' || seq");
    await postgres.rows(url, "UPDATE waf.head SET id = 'other' || seq");
    await expect(openController(url, keyFile, folder)).rejects.toMatchObject({
      code: 'store_diverged',
    });
    await expect(
      openController(await postgres.freshUrl(), newKeyFile(), folder),
    ).rejects.toMatchObject({ code: 'store_embedded' });
  });
});
