/** The proof of the store: drivers, indexes, the audit chain. */

import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import { collections } from './collection-list.ts';
import { sessions, users, type Collection } from './collections.ts';
import { testKvDriver } from '../../test/support/kv-suite.ts';
import { openLmdbKv } from './lmdb-kv.ts';
import { openMemoryKv } from './memory-kv.ts';
import { openStore } from './store.ts';
import { storeLimits } from '../limits/store-limits.ts';

const folder = (): string => mkdtempSync(join(tmpdir(), 'waf-kv-'));

testKvDriver('memory', openMemoryKv);
testKvDriver('lmdb', () => openLmdbKv({ folder: folder(), durable: true }));

const session = (id: string, userId: string) => ({
  id,
  userId,
  tokenSha256: '',
  sessionEpoch: 0,
  createdAt: '',
  expiresAt: '',
});

test('indexes follow their records', async () => {
  const store = await openStore(openMemoryKv(), systemClock);
  await store.write((tx) => {
    tx.put(sessions, session('s1', 'u1'));
    tx.put(sessions, session('s2', 'u2'));
  });
  expect(store.find(sessions, 'user', 'u1').map(({ id }) => id)).toEqual(['s1']);
  await store.write((tx) => tx.put(sessions, session('s1', 'u2')));
  expect(store.find(sessions, 'user', 'u1')).toEqual([]);
  expect(store.find(sessions, 'user', 'u2')).toHaveLength(2);
  await store.write((tx) => tx.remove(sessions, 's1'));
  expect(store.find(sessions, 'user', 'u2').map(({ id }) => id)).toEqual(['s2']);
});

test('listeners hear of changed collections, and only after the write', async () => {
  const store = await openStore(openMemoryKv(), systemClock);
  const heard: string[] = [];
  store.onChange((changed) => heard.push(...changed));
  await store.write((tx) => tx.put(sessions, session('s1', 'u1')));
  expect(heard).toEqual(['sessions']);
  await expect(
    store.write((tx) => {
      tx.put(sessions, session('s2', 'u1'));
      throw new Error('no');
    }),
  ).rejects.toThrow('no');
  expect(heard).toEqual(['sessions']);
  expect(store.list(users)).toEqual([]);
});

test('a store from a newer version is refused', async () => {
  const kv = openMemoryKv();
  await kv.write((writer) => writer.put('m\u0000schema', new TextEncoder().encode('99')));
  await expect(openStore(kv, systemClock)).rejects.toMatchObject({ code: 'store_newer' });
});

interface Fruit {
  readonly id: string;
  readonly name: string;
  readonly color: string;
}
const fruits: Collection<Fruit> = {
  name: 'fruits',
  indexes: { name: ({ name }) => [name], color: ({ color }) => [color] },
  counted: ['color'],
};
const fruit = (id: string, name: string, color: string): Fruit => ({ id, name, color });

test('every collection is on the list, once', () => {
  const names = collections.map(({ name }) => name);
  expect(names).toContain('sites');
  expect(names).toContain('rulesets');
  const list = readFileSync(new URL('collection-list.ts', import.meta.url), 'utf8');
  const files = readdirSync(import.meta.dirname).filter((name) => name.endsWith('collections.ts'));
  expect(files.length).toBeGreaterThan(1);
  expect(files.filter((name) => !list.includes(`from './${name}'`))).toEqual([]);
  expect(new Set(names).size).toBe(names.length);
});

test('counts follow their records, inside a transaction too, and need no scan', async () => {
  const store = await openStore(openMemoryKv(), systemClock);
  await store.write((tx) => {
    tx.put(fruits, fruit('1', 'apple', 'red'));
    tx.put(fruits, fruit('2', 'lime', 'green'));
    tx.put(fruits, fruit('2', 'lime', 'yellow'));
    expect([tx.count(fruits), tx.count(fruits, 'color', 'green')]).toEqual([2, 0]);
  });
  await store.write((tx) => tx.put(fruits, fruit('3', 'cherry', 'red')));
  expect(store.count(fruits)).toBe(3);
  expect(store.count(fruits, 'color', 'red')).toBe(2);
  await store.write((tx) => {
    tx.remove(fruits, '1');
    tx.remove(fruits, '1');
  });
  expect([store.count(fruits), store.count(fruits, 'color', 'red')]).toEqual([2, 1]);
  expect(() => store.count(fruits, 'name', 'lime')).toThrow('not counted');
});

test('records are walked by id, in stretches', async () => {
  const store = await openStore(openLmdbKv({ folder: folder(), durable: false }), systemClock);
  const ids = ['a/1', 'a/2', 'a/3', 'a/4', 'b/1'];
  await store.write((tx) => ids.forEach((id) => tx.put(fruits, fruit(id, id, 'red'))));
  const walk = (range: Parameters<typeof store.walk>[1]): string[] =>
    [...store.walk(fruits, range)].map(({ id }) => id);
  expect(walk({ prefix: 'a/' })).toEqual(ids.slice(0, 4));
  expect(walk({ prefix: 'a/', after: 'a/1', limit: 2 })).toEqual(['a/2', 'a/3']);
  expect(walk({ prefix: 'a/', before: 'a/3', reverse: true, limit: 1 })).toEqual(['a/2']);
  expect(walk({ prefix: 'a/', after: 'a/1', before: 'a/4', reverse: true })).toEqual([
    'a/3',
    'a/2',
  ]);
  expect(walk({ prefix: 'a/', after: 'b/1' })).toEqual([]);
  expect(walk({ after: 'a/4' })).toEqual(['b/1']);
  expect(walk({ reverse: true, limit: 5 })).toEqual(ids.toReversed());
  await store.close();
});

test('an index gives records in the order of its values, page by page', async () => {
  const store = await openStore(openLmdbKv({ folder: folder(), durable: false }), systemClock);
  const names = ['kiwi', 'apple', 'lime', 'apple', 'apricot'];
  await store.write((tx) =>
    names.forEach((name, at) => tx.put(fruits, fruit(String(at), name, 'red'))),
  );
  const walk = (range: Parameters<typeof store.walkIndex>[2]): string[] =>
    [...store.walkIndex(fruits, 'name', range)].map(({ id }) => id);
  expect(walk({})).toEqual(['1', '3', '4', '0', '2']);
  expect(walk({ limit: 2 })).toEqual(['1', '3']);
  expect(walk({ after: { value: 'apple', id: '1' }, limit: 2 })).toEqual(['3', '4']);
  expect(walk({ valuePrefix: 'ap' })).toEqual(['1', '3', '4']);
  expect(walk({ value: 'apple', reverse: true })).toEqual(['3', '1']);
  expect(walk({ after: { value: 'apricot', id: '4' }, reverse: true })).toEqual(['3', '1']);
  expect(store.find(fruits, 'name', 'app')).toEqual([]);
  await store.close();
});

test('a value of an index cannot reach into the next', async () => {
  const store = await openStore(openMemoryKv(), systemClock);
  await store.write((tx) => tx.put(fruits, fruit('1', 'a\u0000b', 'red')));
  expect(store.find(fruits, 'name', 'a')).toEqual([]);
  expect(store.find(fruits, 'name', 'a\u0000b')).toHaveLength(1);
  const wrong = store.write((tx) => tx.put(fruits, fruit('1\u00002', 'x', 'red')));
  await expect(wrong).rejects.toMatchObject({ code: 'store_key' });
});

test('what is read is never older than the last write, and a failed write leaves no trace', async () => {
  const store = await openStore(openMemoryKv(), systemClock);
  await store.write((tx) => tx.put(fruits, fruit('1', 'apple', 'red')));
  expect(store.list(fruits)).toHaveLength(1);
  const failing = store.write((tx) => {
    tx.put(fruits, fruit('1', 'apple', 'green'));
    tx.put(fruits, fruit('2', 'lime', 'green'));
    expect(tx.list(fruits).map(({ color }) => color)).toEqual(['green', 'green']);
    // Somebody reads beside the transaction.
    store.get(fruits, '1');
    throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
  expect(store.list(fruits).map(({ color }) => color)).toEqual(['red']);
  await store.write((tx) => tx.put(fruits, fruit('1', 'apple', 'yellow')));
  expect(store.get(fruits, '1')?.color).toBe('yellow');
  expect(store.list(fruits)[0]?.color).toBe('yellow');
  const [shared] = store.list(fruits);
  expect(() => Object.assign(shared!, { color: 'blue' })).toThrow(TypeError);
});

test('writes of one turn see each other, whoever waits for them', async () => {
  const store = await openStore(openMemoryKv(), systemClock);
  const addOnce = (id: string): Promise<boolean> =>
    store.write((tx) => {
      if (tx.list(fruits).some(({ name }) => name === 'apple')) return false;
      tx.put(fruits, fruit(id, 'apple', 'red'));
      return true;
    });
  expect(store.list(fruits)).toEqual([]);
  expect(await Promise.all([addOnce('1'), addOnce('2'), addOnce('3')])).toEqual([
    true,
    false,
    false,
  ]);
  expect(store.list(fruits)).toHaveLength(1);
});

test('a listener that throws ends neither the write nor the others; listeners are bounded', async () => {
  const store = await openStore(openMemoryKv(), systemClock);
  const warned: string[] = [];
  const warn = (warning: Error): void => void warned.push(warning.message);
  process.on('warning', warn);
  let heard = 0;
  const undo = store.onChange(() => {
    throw new Error('listener broke');
  });
  store.onChange(() => heard++);
  await store.write((tx) => tx.put(fruits, fruit('1', 'apple', 'red')));
  undo();
  await store.write((tx) => tx.put(fruits, fruit('2', 'apple', 'red')));
  await new Promise((resolve) => setImmediate(resolve));
  process.off('warning', warn);
  expect(heard).toBe(2);
  expect(warned).toEqual(['listener broke']);
  const listenTooMuch = (): void => {
    for (let at = 0; at <= storeLimits.listenersMax; at++) store.onChange(() => undefined);
  };
  expect(listenTooMuch).toThrow('too many');
});

test('a closed store refuses who comes too late', async () => {
  const kv = openLmdbKv({ folder: folder(), durable: true });
  await kv.write((tx) => tx.put('a', Buffer.from('1')));
  const staged = kv.stage();
  staged.writer.put('b', Buffer.from('2'));
  const closing = kv.close();
  await Promise.resolve();
  const late: readonly (() => unknown)[] = [
    () => kv.get('a'),
    () => kv.peek('a'),
    () => kv.range({ start: 'a', end: 'b' }),
    () => kv.snapshot(),
  ];
  for (const ask of late) expect(ask).toThrow('the store is closed');
  await expect(kv.write((tx) => tx.get('a'))).rejects.toThrow('the store is closed');
  await expect(staged.keep()).rejects.toThrow('the store is closed');
  await closing;
});
