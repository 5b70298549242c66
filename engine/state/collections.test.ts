/** Holds persistent collections to what several threads, clocks and full bounds do to them. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { open } from 'lmdb';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Clock } from '../../base/clock.ts';
import { stateLimits } from '../base/limits.ts';
import { createLogger } from '../../base/log.ts';
import { changeBy, changeOfExpiry, changeTo, removal } from '../base/stored-change.ts';
import { Collections } from './collections.ts';

const hour = 3_600_000;
let folder = '';
let nowMs = 0;
let opened: Collections[] = [];
const clock: Clock = { nowMs: () => nowMs, monotonicUs: () => 0 };

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'collections-'));
  nowMs = 1_700_000_000_000;
  opened = [];
});

afterEach(async () => {
  for (const one of opened) await one.close();
  rmSync(folder, { recursive: true, force: true });
});

function store(): Collections {
  const one = new Collections(folder, clock, createLogger('test', 'error'));
  opened.push(one);
  return one;
}

/** Closing writes what waits. */
async function settle(): Promise<void> {
  for (const one of opened.splice(0)) await one.close();
}

async function storedKeys(): Promise<string[]> {
  const database = open<unknown, string>({ path: folder, compression: false });
  const keys = [...database.getKeys()];
  await database.close();
  return keys;
}

test('two threads count the same thing and lose nothing', async () => {
  const [one, two] = [store(), store()];
  for (let i = 0; i < 10; i++) {
    one.update('ip', 'a', new Map([['n', changeBy(1)]]), nowMs + hour);
    two.update('ip', 'a', new Map([['n', changeBy(10)]]), nowMs + hour);
  }
  expect(one.load('ip', 'a')?.get('n')?.value).toBe('10');
  await settle();
  expect(store().load('ip', 'a')?.get('n')?.value).toBe('110');
});

test('changes of one batch join', async () => {
  const one = store();
  const later = nowMs + 1000;
  one.update('ip', 'a', new Map([['n', changeTo('5')]]), nowMs + hour);
  one.update('ip', 'a', new Map([['n', changeBy(2)]]), nowMs + hour);
  one.update('ip', 'a', new Map([['n', changeOfExpiry(later)]]), nowMs + hour);
  one.update('ip', 'a', new Map([['gone', changeTo('x')]]), nowMs + hour);
  one.update('ip', 'a', new Map([['gone', removal]]), nowMs + hour);
  const expected = new Map([['n', { value: '7', expiresAtMs: later }]]);
  expect(one.load('ip', 'a')).toEqual(expected);
  await settle();
  expect(store().load('ip', 'a')).toEqual(expected);
  nowMs = later;
  expect(store().load('ip', 'a')).toBeNull();
});

test('a collection that nothing changes is forgotten, and swept from the disk', async () => {
  const one = store();
  for (let i = 0; i < 50; i++) {
    one.update('ip', `old${i}`, new Map([['n', changeTo('1')]]), nowMs + hour);
  }
  await settle();
  nowMs += hour;
  expect(store().load('ip', 'old0')).toBeNull();
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  const two = store();
  for (let round = 0; round < 4; round++) {
    for (let i = 0; i < 20; i++) {
      two.update('ip', `new${round}-${i}`, new Map([['n', changeTo('1')]]), nowMs + hour);
    }
    vi.advanceTimersByTime(stateLimits.collectionsBatchMs);
  }
  vi.useRealTimers();
  await settle();
  const keys = await storedKeys();
  expect(keys.filter((key) => key.includes('old'))).toEqual([]);
  expect(keys).toHaveLength(80);
});

test('a counter of a forgotten collection begins again', async () => {
  store().update('ip', 'a', new Map([['n', changeTo('9')]]), nowMs + hour);
  await settle();
  nowMs += hour;
  store().update('ip', 'a', new Map([['n', changeBy(1)]]), nowMs + hour);
  await settle();
  expect(store().load('ip', 'a')?.get('n')?.value).toBe('1');
});

test('long keys stay apart', async () => {
  const one = store();
  const long = 'k'.repeat(5000);
  one.update('ip', `${long}a`, new Map([['n', changeTo('a')]]), nowMs + hour);
  one.update('ip', `${long}b`, new Map([['n', changeTo('b')]]), nowMs + hour);
  await settle();
  expect(store().load('ip', `${long}a`)?.get('n')?.value).toBe('a');
});

test('the number of values in a collection is bounded', () => {
  const one = store();
  const changes = new Map(
    Array.from({ length: 1000 }, (_, i) => [`n${i}`, changeTo('1')] as const),
  );
  one.update('ip', 'a', changes, nowMs + hour);
  expect(one.load('ip', 'a')?.size).toBe(256);
});
