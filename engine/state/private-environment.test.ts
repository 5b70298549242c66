/** Files of the engine's stores are for its user alone, also those of earlier versions. */

import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import { silentLogger } from '../../base/log.ts';
import { Collections } from './collections.ts';
import { openSpoolFiles } from './spool-files.ts';

let root = '';
let mask = 0;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'private-'));
  mask = process.umask(0);
});
afterEach(() => {
  process.umask(mask);
  rmSync(root, { recursive: true, force: true });
});

const kinds = [
  ['collections', (path: string) => new Collections(path, systemClock, silentLogger)],
  ['spool', (path: string) => openSpoolFiles(path, silentLogger)],
] as const;

test.each(kinds)('the folder of %s and its files, new or old', async (name, open) => {
  const folder = join(root, name);
  const modes = (): number[] => [
    statSync(folder).mode & 0o777,
    ...readdirSync(folder).map((file) => statSync(join(folder, file)).mode & 0o777),
  ];
  await open(folder).close();
  expect(modes()).toEqual([0o700, 0o600, 0o600]);
  chmodSync(folder, 0o755);
  for (const file of readdirSync(folder)) chmodSync(join(folder, file), 0o644);
  await open(folder).close();
  expect(modes()).toEqual([0o700, 0o600, 0o600]);
});

test.each(kinds)('a folder of %s that was made by hand', async (name, open) => {
  const folder = join(root, name);
  mkdirSync(folder, { mode: 0o777 });
  await open(folder).close();
  expect(statSync(folder).mode & 0o777).toBe(0o700);
});
