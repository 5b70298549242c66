/**
 * The program is packed ahead where nodes are expected, once for the files that it has, and kept
 * over starts.
 */

import { existsSync, mkdtempSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { eventually } from '../../test/support/eventually.ts';
import { silentLogger } from '../../base/log.ts';
import { ProgramPackage } from './program-package.ts';
import { programFolder } from './program-folder.test-support.ts';

test('a package is made ahead and kept until the files change', async () => {
  const folder = programFolder();
  const kept = join(mkdtempSync(join(tmpdir(), 'waf-kept-')), 'packages');

  const nodes = { areExpected: () => true, onChange: () => () => undefined };
  const ahead = new ProgramPackage(kept, folder).packAhead(silentLogger, nodes, 0);
  const isMade = () =>
    readdirSync(dirname(kept)).includes('packages') && readdirSync(kept).length === 2;
  await eventually(() => isMade() || null);
  ahead.close();
  const first = await new ProgramPackage(kept, folder).file();
  const { mtimeMs, size } = statSync(first.path);
  expect(size).toBe(first.bytes);
  const again = await new ProgramPackage(kept, folder).file();
  expect(again).toEqual(first);
  expect(statSync(first.path).mtimeMs).toBe(mtimeMs);
  writeFileSync(join(folder, '.build/control/cli/main.js'), 'other');
  const changed = await new ProgramPackage(kept, folder).file();
  expect(changed.path).not.toBe(first.path);
  expect(changed.sha256).not.toBe(first.sha256);
  // The older one is gone.
  expect(readdirSync(kept).length).toBe(2);
});

test('nothing is packed before nodes are expected', async () => {
  const kept = join(mkdtempSync(join(tmpdir(), 'waf-kept-')), 'packages');
  let expected = false;
  let tell: (() => void) | null = null;
  const nodes = {
    areExpected: () => expected,
    onChange: (listener: () => void) => {
      tell = listener;
      return () => (tell = null);
    },
  };
  const ahead = new ProgramPackage(kept, programFolder()).packAhead(silentLogger, nodes, 0);
  const listener = await eventually(() => tell);
  listener();
  expect(tell).not.toBeNull();
  // Packing begins with the folder.
  expect(existsSync(kept)).toBe(false);
  expected = true;
  listener();
  expect(tell).toBeNull();
  await eventually(() => existsSync(kept));
  ahead.close();
});
