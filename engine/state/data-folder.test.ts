/** Holds the data folder to being made privately, or told why not. */

import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { makeEngineFolder } from './data-folder.ts';

const base = mkdtempSync(path.join(tmpdir(), 'data-'));
afterAll(() => rmSync(base, { recursive: true, force: true }));

test('is made for its user alone', () => {
  const folder = makeEngineFolder(path.join(base, 'a', 'b'));
  expect(folder).toBe(path.join(base, 'a', 'b', 'engine'));
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(makeEngineFolder(path.join(base, 'a', 'b'))).toBe(folder);
});

test('a file in its place is reported with the flag', () => {
  const file = path.join(base, 'file');
  writeFileSync(file, '');
  expect(() => makeEngineFolder(file)).toThrow(/--data: the folder .*engine cannot be made \(E/);
});
