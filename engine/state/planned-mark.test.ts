/** Tests the mark of planned bundles: a kill between two of them leaves either one marked. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { PlannedMark } from './planned-mark.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'waf-mark-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('the last two bundles are marked, an older one is not', () => {
  const mark = new PlannedMark(join(folder, 'planned'));
  expect(mark.names('one')).toBe(false);
  for (const sha256 of ['one', 'two', 'two', 'three']) mark.keep(sha256);
  const named = ['one', 'two', 'three', ''].map((sha256) => mark.names(sha256));
  expect(named).toEqual([false, true, true, false]);
});

test('a mark that cannot be written names nothing', () => {
  const mark = new PlannedMark(join(folder, 'missing', 'planned'));
  mark.keep('one');
  expect(mark.names('one')).toBe(false);
});
