/** Tests when what is removed from a spool leaves the disk. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { silentLogger } from '../../base/log.ts';
import { stateLimits } from '../base/limits.ts';
import { openSpoolFiles } from './spool-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'waf-spool-files-'));
const bytes = Buffer.from('a batch');

afterEach(() => {
  vi.useRealTimers();
  rmSync(folder, { recursive: true, force: true });
});

test('removals leave the disk with the next batch of any stream, and at the end', async () => {
  const files = openSpoolFiles(folder, silentLogger);
  const [facts, counters] = [files.store('facts'), files.store('counters')];
  facts.change([[1, bytes]], []);
  facts.change([[2, bytes]], [], Buffer.from('one'));
  expect(facts.change([], [1], Buffer.from('two'))).toBe(true);
  expect([facts.read(1), facts.readNote()]).toEqual([bytes, Buffer.from('two')]);
  counters.change([[1, bytes]], []);
  expect([facts.read(1), facts.readNote()]).toEqual([null, Buffer.from('two')]);
  facts.change([], [2]);
  await files.close();

  const again = openSpoolFiles(folder, silentLogger);
  expect([...again.store('facts').load()]).toEqual([]);
  expect(again.store('facts').readNote()).toEqual(Buffer.from('two'));
  expect([...again.store('counters').load()]).toEqual([[1, bytes]]);
  await again.close();
});

test('removals do not wait longer than their bound', async () => {
  const files = openSpoolFiles(folder, silentLogger);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const facts = files.store('facts');
  facts.change([[1, bytes]], []);
  facts.change([], [1]);
  vi.advanceTimersByTime(stateLimits.spoolRemovesDelayMs - 1);
  expect(facts.read(1)).toEqual(bytes);
  vi.advanceTimersByTime(1);
  expect(facts.read(1)).toBeNull();
  vi.useRealTimers();
  await files.close();
});
