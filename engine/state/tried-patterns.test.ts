/**
 * Which patterns were tried outlives a process, and a damaged or foreign file costs only trials.
 */

import { appendFileSync, chmodSync, mkdtempSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { createLogger, silentLogger } from '../../base/log.ts';
import { TriedPatterns } from './tried-patterns.ts';

const folder = (): string => mkdtempSync(path.join(tmpdir(), 'waf-tried-'));
const open = (file: string, engine = 'hs 1', max = 100): TriedPatterns =>
  new TriedPatterns(file, engine, max, silentLogger);

test('what one process tried, the next knows', () => {
  const file = path.join(folder(), 'engine', 'tried');
  open(file).add(['a+', 'b\n']);
  const next = open(file);
  expect(['a+', 'b\n', 'b', ''].map((one) => next.has(one))).toEqual([true, true, false, false]);
  next.add(['a+']);
  expect(readFileSync(file, 'latin1').trim().split('\n')).toHaveLength(2);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test('another version of a library tries again', () => {
  const file = path.join(folder(), 'tried');
  open(file).add(['a+']);
  expect(open(file, 'hs 2').has('a+')).toBe(false);
});

test('a line that was cut, or that is none, stands for no pattern', () => {
  const file = path.join(folder(), 'tried');
  open(file).add(['a+', 'b+']);
  appendFileSync(file, `${'x'.repeat(21)}\n\0\0\0`);
  const next = open(file);
  expect([next.has('a+'), next.has('b+'), next.has('')]).toEqual([true, true, false]);
  next.add(['c+']);
  expect(open(file).has('a+')).toBe(true);
});

test('past its bound the file begins anew', () => {
  const file = path.join(folder(), 'tried');
  const tried = open(file, 'hs 1', 3);
  tried.add(['a', 'b', 'c']);
  tried.add(['d']);
  for (const one of [tried, open(file)]) {
    expect(['a', 'd'].map((pattern) => one.has(pattern))).toEqual([false, true]);
  }
});

test('what cannot be kept is known to this process, and said', () => {
  const lines: string[] = [];
  const log = createLogger('test', 'warn', (line) => void lines.push(line));
  const file = path.join(folder(), 'tried', 'x');
  open(path.dirname(file)).add(['a file in the way']);
  chmodSync(path.dirname(file), 0o600);
  const tried = new TriedPatterns(file, 'hs 1', 10, log);
  tried.add(['a+']);
  expect(tried.has('a+')).toBe(true);
  expect(lines.join('')).toContain('cannot keep which patterns were tried');
});
