/** Holds files of lines to losing lines, never the engine: full disks, rotation, slow readers. */

import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { eventFileLimits } from '../base/observation-limits.ts';
import { createLogger } from '../../base/log.ts';
import { LineFile } from './line-file.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'lines-'));
const time = { us: 0 };
const clock = { nowMs: () => 0, monotonicUs: () => time.us };

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function lineFile(file: string, more: { rotateBytes?: number; keep?: number } = {}) {
  const logged: string[] = [];
  const log = createLogger('test', 'info', (line) => void logged.push(line));
  const options = { flag: '--access-log', name: 'the access log', path: file, clock, log };
  return { lines: new LineFile({ ...options, ...more }), logged };
}

test('after SIGUSR1 lines go to a new file of the same name, none is lost', async () => {
  const file = path.join(folder, 'moved.log');
  const { lines } = lineFile(file);
  lines.write('one\n', 1);
  renameSync(file, `${file}.old`);
  lines.write('two\n', 1);
  lines.reopen();
  lines.write('three\n', 1);
  await lines.close();
  expect(readFileSync(`${file}.old`, 'utf8')).toBe('one\ntwo\n');
  expect(readFileSync(file, 'utf8')).toBe('three\n');
  expect(lines.lost).toBe(0);
});

test('a file that grew is set aside, and the oldest goes', async () => {
  const file = path.join(folder, 'sized.log');
  const { lines } = lineFile(file, { rotateBytes: 10, keep: 2 });
  for (const line of ['first', 'second', 'third', 'fourth']) lines.write(`${line} line\n`, 1);
  lines.write('fifth\n', 1);
  await lines.close();
  expect(readFileSync(file, 'utf8')).toBe('fifth\n');
  expect(readFileSync(`${file}.1`, 'utf8')).toBe('fourth line\n');
  expect(readFileSync(`${file}.2`, 'utf8')).toBe('third line\n');
  expect(existsSync(`${file}.3`)).toBe(false);
});

test('what a run before left counts towards the size', async () => {
  const file = path.join(folder, 'again.log');
  for (let run = 0; run < 3; run++) {
    const { lines } = lineFile(file, { rotateBytes: 10, keep: 1 });
    lines.write('12345\n', 1);
    await lines.close();
  }
  expect(readFileSync(`${file}.1`, 'utf8')).toBe('12345\n12345\n');
  expect(readFileSync(file, 'utf8')).toBe('12345\n');
});

test('a reader that takes nothing costs lines past the bound, counted', async () => {
  const file = path.join(folder, 'slow.log');
  const { lines } = lineFile(file);
  // Nothing is written before this turn ends.
  const text = `${'x'.repeat(1024 * 1024 - 1)}\n`;
  const fits = eventFileLimits.waitingBytesMax / text.length;
  for (let count = 0; count < fits + 3; count++) lines.write(text, 1);
  expect(lines.lost).toBe(3);
  await lines.close();
  expect(statSync(file).size).toBe(fits * text.length);
});

test('only the user and the group of the product read the file', async () => {
  const file = path.join(folder, 'private.log');
  const { lines } = lineFile(file);
  await lines.close();
  expect(statSync(file).mode & 0o007).toBe(0);
});

test('a file that cannot be opened is reported with its flag', () => {
  for (const file of [path.join(folder, 'none', 'x'), folder]) {
    expect(() => lineFile(file)).toThrow(/--access-log: the file .* cannot be written \(E/);
  }
});

test.skipIf(process.platform !== 'linux')('a full disk: every lost line is counted', async () => {
  const { lines, logged } = lineFile('/dev/full');
  lines.write('one\ntwo\n', 2);
  await expect.poll(() => logged.length).toBe(1);
  expect(JSON.parse(logged[0] ?? '')).toMatchObject({ level: 'error', reason: 'ENOSPC' });
  lines.write('three\n', 1);
  await expect.poll(() => lines.lost).toBe(3);
  await lines.close();
});
