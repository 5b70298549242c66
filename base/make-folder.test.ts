/** Tests making folders: what is there stays, what cannot be is an error at once. */

import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeFolder } from './make-folder.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'waf-folder-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('makes what is missing, private, and leaves what is there', () => {
  const path = join(folder, 'a', 'b', 'c');
  makeFolder(path);
  expect(statSync(path).mode & 0o777).toBe(0o700);
  writeFileSync(join(path, 'kept'), '');
  makeFolder(path);
  expect(statSync(join(path, 'kept')).isFile()).toBe(true);
});

test('a file in the way is an error', () => {
  const file = join(folder, 'file');
  writeFileSync(file, '');
  expect(() => makeFolder(file)).toThrow(/no folder/);
  expect(() => makeFolder(join(file, 'below'))).toThrow(/ENOTDIR/);
});

test.skipIf(process.platform !== 'linux')('a place that holds no folders ends at once', () => {
  expect(() => makeFolder('/proc/waf/deep')).toThrow(/ENOENT/);
});
