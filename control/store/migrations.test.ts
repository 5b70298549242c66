/**
 * The proof that a store of every earlier layout opens, and stays what it was when a step fails.
 * fixtures/version-1.jsonl is a store of the first version, keys without their secret.
 */

import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import type { AnyCollection, Collection } from './collection.ts';
import { collections } from './collection-list.ts';
import { policies, sites, users } from './collections.ts';
import { metaKey, readJson, toBytes } from './keys.ts';
import type { Kv } from './kv.ts';
import { openLmdbKv } from './lmdb-kv.ts';
import { openMemoryKv } from './memory-kv.ts';
import { migrate, readSchema, schemaVersion } from './migrations.ts';
import { openStore } from './store.ts';
import { verifyStore } from './verify.ts';

interface Dumped {
  readonly key: string;
  readonly text?: string;
  readonly base64?: string;
}

/** Fills a driver with the store of a version. */
async function load(kv: Kv, version: number): Promise<Kv> {
  const path = new URL(`fixtures/version-${version}.jsonl`, import.meta.url);
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
  await kv.write((writer) => {
    for (const line of lines) {
      const { key, text = '', base64 } = JSON.parse(line) as Dumped;
      writer.put(key, base64 === undefined ? Buffer.from(text) : Buffer.from(base64, 'base64'));
    }
  });
  return kv;
}

const lmdb = (): Kv =>
  openLmdbKv({ folder: mkdtempSync(join(tmpdir(), 'waf-migrate-')), durable: false });
const dump = (kv: Kv): [string, string][] =>
  [...kv.range({ start: '\u0001', end: '\uffff' })].map(({ key, value }) => [
    key,
    Buffer.from(value).toString('base64'),
  ]);

describe('every earlier layout opens, verifies and keeps its records', () => {
  const earlier = Array.from({ length: schemaVersion - 1 }, (_, at) => at + 1);

  test.each(earlier)('version %i', async (version) => {
    const kv = await load(lmdb(), version);
    expect(readSchema(kv)).toBe(version);
    const store = await openStore(kv, systemClock);
    expect(readSchema(kv)).toBe(schemaVersion);
    expect(verifyStore(kv, collections)).toMatchObject({
      problems: [],
      notes: [],
      auditRows: 3,
      blobs: 1,
      collections: { policies: 7, users: 2, sites: 2, roles: 3 },
    });
    expect(store.count(policies)).toBe(store.list(policies).length);
    expect(store.find(users, 'username', 'eve')).toHaveLength(1);
    expect(store.list(sites).map(({ name }) => name)).toContain('shop');
    // The chain, the counters and the indexes continue from there.
    await store.write((tx) => {
      tx.remove(users, store.find(users, 'username', 'eve')[0]?.id ?? '');
      expect(tx.next('config-revision')).toBe(3);
    });
    expect(verifyStore(kv, collections).problems).toEqual([]);
    await store.close();
  });

  test('a second opening changes nothing', async () => {
    const kv = await load(openMemoryKv(), 1);
    await openStore(kv, systemClock);
    const once = dump(kv);
    await openStore(kv, systemClock);
    expect(dump(kv)).toEqual(once);
  });
});

/** A driver whose writer breaks at its nth write, over all transactions. */
function breakingAt(kv: Kv, nth: number): Kv {
  let puts = 0;
  return {
    ...kv,
    write: (change) =>
      kv.write((writer) =>
        change({
          ...writer,
          put: (key, value) => {
            if (++puts === nth) throw new Error('killed');
            writer.put(key, value);
          },
        }),
      ),
  };
}

test('a step that fails leaves the store as it was, and the next opening continues', async () => {
  let failures = 0;
  for (let nth = 1; nth < 500; nth++) {
    const kv = await load(openMemoryKv(), 1);
    const before = dump(kv);
    try {
      await openStore(breakingAt(kv, nth), systemClock);
      break;
    } catch {
      failures++;
    }
    // What earlier transactions did stays; a step is all there or not at all.
    if (readSchema(kv) === 1) expect(dump(kv)).toEqual(before);
    expect(verifyStore(kv, collections).problems).toEqual([]);
    await openStore(kv, systemClock);
    expect(verifyStore(kv, collections)).toMatchObject({ problems: [], notes: [] });
  }
  expect(failures).toBeGreaterThan(collections.length);
  expect(failures).toBeLessThan(400);
});

test('a newer or damaged version is refused and nothing is written', async () => {
  const cases: [Uint8Array | null, string][] = [
    [toBytes(schemaVersion + 1), 'store_newer'],
    [toBytes('x'), 'store_damaged'],
    [toBytes(0), 'store_damaged'],
    [new Uint8Array([0xff]), 'store_damaged'],
    [null, 'store_damaged'],
  ];
  for (const [bytes, code] of cases) {
    const kv = await load(openMemoryKv(), 1);
    await kv.write((writer) => {
      if (bytes === null) writer.remove(metaKey('schema'));
      else writer.put(metaKey('schema'), bytes);
    });
    const before = dump(kv);
    await expect(openStore(kv, systemClock)).rejects.toMatchObject({ code });
    expect(dump(kv)).toEqual(before);
  }
});

describe('indexes are what the collections say', () => {
  interface Fruit {
    readonly id: string;
    readonly color: string;
  }
  const plain: Collection<Fruit> = { name: 'fruits', indexes: {} };
  const byColor: Collection<Fruit> = { ...plain, indexes: { color: ({ color }) => [color] } };
  const counted: Collection<Fruit> = { ...byColor, counted: ['color'] };
  const renamed: Collection<Fruit> = { ...plain, indexes: { hue: ({ color }) => [color] } };
  const verify = (kv: Kv, one: Collection<Fruit>): unknown =>
    verifyStore(kv, [...collections, one as AnyCollection]).problems;

  test('a new one is built, a counted one counted, an old one removed', async () => {
    const kv = openMemoryKv();
    const store = await openStore(kv, systemClock);
    await store.write((tx) => {
      for (let at = 0; at < 30; at++)
        tx.put(plain, { id: `${at}`, color: at < 10 ? 'red' : 'blue' });
    });
    for (const one of [byColor, counted, renamed, counted, plain]) {
      await migrate(kv, [...collections, one]);
      expect(verify(kv, one)).toEqual([]);
    }
    await migrate(kv, [...collections, counted]);
    const reopened = await openStore(kv, systemClock);
    expect(reopened.find(counted, 'color', 'red')).toHaveLength(10);
    expect(reopened.count(counted, 'color', 'blue')).toBe(20);
    expect(reopened.find(renamed, 'hue', 'red')).toEqual([]);
    expect(reopened.count(counted)).toBe(30);
    expect(readJson(kv.get(metaKey('schema')))).toBe(schemaVersion);
  });
});
