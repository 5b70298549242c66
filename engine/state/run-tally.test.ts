/** Proves what a run's tally says of it later: its sums, or nothing where the file is not sound. */

import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { silentLogger, type Logger } from '../../base/log.ts';
import { tallyFields, tallySlotLength, type RunTally } from '../contract/run-tally.ts';
import { mapFile } from '../system/memory.ts';
import { tryOpenRunTally } from './run-tally.ts';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'waf-tally-'));
  folders.push(folder);
  return join(folder, 'tally');
}

/** As a front thread writes. */
function count({ path }: RunTally, slot: number, counts: readonly number[]): void {
  const start = (slot + 1) * tallySlotLength;
  new Float64Array(mapFile(path, (start + tallySlotLength) * 8)).set(counts, start);
}

const open = (folder: string, threads: number): RunTally =>
  tryOpenRunTally(folder, threads, silentLogger)!;

test('sums of all threads are there during the run and for the next one, of any size', () => {
  const folder = newFolder();
  const first = open(folder, 3);
  expect(first.current()).toEqual({ requests: 0, blocked: 0, facts: 0 });
  count(first, 0, [10, 2, 3]);
  count(first, 2, [2 ** 40, 1, 1]);
  const sums = { requests: 2 ** 40 + 10, blocked: 3, facts: 4 };
  expect(first.current()).toEqual(sums);
  const second = open(folder, 1);
  expect(second.run).not.toBe(first.run);
  expect(second.earlier(first.run)).toEqual(sums);
  expect(second.current().requests).toBe(0);
  second.forgetEarlier();
  expect(second.earlier(first.run)).toBeNull();
  expect(readdirSync(folder)).toEqual([second.run]);
});

test('a file that is cut, altered, of another run or missing says nothing', () => {
  const folder = newFolder();
  const tally = open(folder, 2);
  count(tally, 1, [5, 0, 0]);
  const whole = readFileSync(tally.path);
  const other = 'ab'.repeat(16);
  const readAs = (bytes: Buffer): unknown => {
    writeFileSync(join(folder, other), bytes);
    return open(folder, 1).earlier(other);
  };
  const renamed = Buffer.from(whole);
  renamed.write(other, 16, 'latin1');
  expect(readAs(renamed)).toEqual({ requests: 5, blocked: 0, facts: 0 });
  expect(readAs(whole)).toBeNull();
  expect(readAs(renamed.subarray(0, renamed.length - 8))).toBeNull();
  expect(readAs(Buffer.alloc(0))).toBeNull();
  expect(readAs(Buffer.concat([Buffer.from('x'), renamed.subarray(1)]))).toBeNull();
  for (const wrong of [Number.NaN, -1, 0.5, Infinity]) {
    const damaged = Buffer.from(renamed);
    damaged.writeDoubleLE(wrong, tallySlotLength * 8);
    expect(readAs(damaged)).toBeNull();
  }
  expect(tally.earlier('cd'.repeat(16))).toBeNull();
  expect(tally.earlier('../../etc/passwd')).toBeNull();
});

test('a disk that refuses is logged, and there is no tally', () => {
  const folder = newFolder();
  const lines: string[] = [];
  const log: Logger = { ...silentLogger, error: (message) => void lines.push(message) };
  expect(tryOpenRunTally('/proc/waf-tally', 1, log)).toBeNull();
  expect(lines).toEqual(['what a kill of the engine loses cannot be counted']);
  expect(tallyFields.length).toBeLessThanOrEqual(tallySlotLength);
  expect(open(folder, 1)).not.toBeNull();
});
