/** Counts and bans of rate limits come back after a restart, and only what still holds. */

import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { HalfSipHash } from '../base/half-sip-hash.ts';
import { silentLogger } from '../../base/log.ts';
import { RateTable, shareRates } from '../guard/rate-table.ts';
import { RateFiles } from './rate-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'waf-rates-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const clock = { now: 1_790_000_000_000, nowMs: () => clock.now, monotonicUs: () => 0 };
const budget = { requests: 3, windowSeconds: 3600 };

function start() {
  const files = new RateFiles(join(folder, 'rates'), clock, silentLogger);
  const table = new RateTable(shareRates(files.seed));
  files.follow(table);
  const hash = new HalfSipHash(files.seed);
  const ask = (name: string) => table.ask(hash.hash(name), budget, 0, clock.now, false);
  return { files, table, hash, ask };
}

test('a restart forgets neither counts nor bans, and drops what has ended', async () => {
  const first = start();
  expect([first.ask('a'), first.ask('a')]).toEqual(['pass', 'pass']);
  first.table.ban(first.hash.hash('bad'), 900_000, clock.now);
  first.table.ban(first.hash.hash('soon free'), 1_000, clock.now);
  // A kill: nothing is closed, only what was saved is there.
  first.files.save();
  expect(statSync(join(folder, 'rates')).mode & 0o777).toBe(0o700);
  await first.files.close();
  clock.now += 60_000;
  const second = start();
  expect(second.files.seed).toEqual(first.files.seed);
  expect(second.table.hasBans).toBe(true);
  expect(second.table.isBanned(second.hash.hash('bad'), clock.now)).toBe(true);
  expect(second.table.isBanned(second.hash.hash('soon free'), clock.now)).toBe(false);
  expect([second.ask('a'), second.ask('a')]).toEqual(['pass', 'over']);
  await second.files.close();
  clock.now += 7_200_000;
  const third = start();
  expect(third.table.hasBans).toBe(false);
  expect([third.ask('a'), third.ask('a'), third.ask('a'), third.ask('a')]).toEqual([
    ...['pass', 'pass', 'pass'],
    'over',
  ]);
  await third.files.close();
});

test('a seed that nodes share takes the place of its own, once, with what was kept under it', async () => {
  const path = join(folder, 'shared');
  const open = (seed: readonly [number, number] | null) =>
    new RateFiles(path, clock, silentLogger, seed);
  const own = open(null);
  const table = new RateTable(shareRates(own.seed));
  own.follow(table);
  table.ban({ low: 1, high: 2 }, 900_000, clock.now);
  await own.close();
  const shared = open([-3, 4]);
  expect([shared.seed, shared.nodeId === own.nodeId]).toEqual([[-3, 4], false]);
  const after = new RateTable(shareRates(shared.seed));
  shared.follow(after);
  expect(after.hasBans).toBe(false);
  after.ban({ low: 1, high: 2 }, 900_000, clock.now);
  await shared.close();
  const again = open([-3, 4]);
  const kept = new RateTable(shareRates(again.seed));
  again.follow(kept);
  expect([kept.hasBans, again.nodeId]).toEqual([true, shared.nodeId]);
  await again.close();
});
